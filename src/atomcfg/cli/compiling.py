"""From file names to a compilation: the only part of atomcfg that reads configuration files."""

from __future__ import annotations

import getpass
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from atomcfg.compiler import Result, compile_sources
from atomcfg.diagnostics import Diagnostic, Severity, Span
from atomcfg.documents import Source
from atomcfg.sources import Options, Sources

__all__ = ["Unreadable", "compile_files", "local_user", "parse_override", "read_source", "read_sources"]

_PROFILE_VARIABLE = "CVS_CONFIG_PROFILE"
_LIMIT = 256 << 20


class Unreadable(Exception):
    """A file that cannot be read, as a diagnostic."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.summary)
        self.diagnostic = diagnostic


def compile_files(
    config: str,
    *,
    cluster: str | None = None,
    lab: str | None = None,
    profile: str | None = None,
    overrides: Sequence[tuple[str, object]] = (),
    dry_run: bool = False,
    every_profile: bool = False,
) -> Result:
    """Compile the config at a path. A file that cannot be read is a diagnostic like any other."""
    try:
        sources = read_sources(config, cluster, lab, overrides)
    except Unreadable as fault:
        return Result(None, (fault.diagnostic,))
    options = Options(
        profile=profile,
        environment_profile=os.environ.get(_PROFILE_VARIABLE),
        overrides=tuple(overrides),
        user=local_user(),
        dry_run=dry_run,
        every_profile=every_profile,
    )
    return compile_sources(sources, options)


def parse_override(text: str) -> tuple[str, object] | None:
    """`PATH=VALUE`, the value as JSON where it is JSON, else as text. None without an equals sign."""
    path, equals, value = text.partition("=")
    if not equals or not path:
        return None
    try:
        return path, json.loads(value)
    except (ValueError, RecursionError):
        return path, value


def read_sources(
    config: str,
    cluster: str | None = None,
    lab: str | None = None,
    overrides: Sequence[tuple[str, object]] = (),
) -> Sources:
    """The texts of a compilation. Raises `Unreadable`."""
    text = read_source("config", config)
    folder = Path(config).parent
    beside = folder / "lab.toml"
    lab_source = read_source("lab", lab) if lab else read_source("lab", str(beside)) if beside.is_file() else None
    siblings = tuple(sorted(path.name for path in folder.glob("*threshold.json")))
    wanted = dict.fromkeys((*_named(text.data), *_overridden(overrides), *_lab_named(lab_source)))
    names = wanted or (dict.fromkeys(siblings) if len(siblings) == 1 else {})
    thresholds = tuple(
        read_source("threshold", str(folder / name), key=name) for name in names if _is_file(folder, name)
    )
    return Sources(
        config=text,
        cluster=read_source("cluster", cluster) if cluster else None,
        lab=lab_source,
        thresholds=thresholds,
        siblings=siblings,
    )


def read_source(role: str, name: str, key: str = "") -> Source:
    """The text of one file. Raises `Unreadable`."""
    try:
        with Path(name).open("rb") as stream:
            data = stream.read(_LIMIT + 1)
    except OSError as error:
        hint = "give the path of a JSON file" if role == "config" else ""
        summary = f"cannot read the {role} file: {error.strerror or error}"
        raise Unreadable(Diagnostic("A901", Severity.ERROR, summary, Span(name), hint)) from None
    except ValueError:
        raise Unreadable(
            Diagnostic("A901", Severity.ERROR, "no file can have this name", Span(repr(name)))
        ) from None
    if len(data) > _LIMIT:
        summary = f"the {role} file is larger than {_LIMIT >> 20} MiB"
        raise Unreadable(Diagnostic("A901", Severity.ERROR, summary, Span(name)))
    return Source(role, name, data, key)


def _is_file(folder: Path, name: str) -> bool:
    try:
        return (folder / name).is_file()
    except (OSError, ValueError):
        return False


def _named(data: bytes) -> Iterator[str]:
    """Every threshold file that a config may mean, in whichever profile."""
    try:
        top = json.loads(data)
    except (ValueError, RecursionError):
        return
    if not isinstance(top, dict):
        return
    profiles = top.get("profiles")
    bodies = [top, *(profiles.values() if isinstance(profiles, dict) else ())]
    for body in bodies:
        name = body.get("threshold_json") if isinstance(body, dict) else None
        if isinstance(name, str) and name:
            yield name


def _overridden(overrides: Sequence[tuple[str, object]]) -> Iterator[str]:
    for path, value in overrides:
        if path.endswith("threshold_json") and isinstance(value, str):
            yield value


def _lab_named(lab: Source | None) -> Iterator[str]:
    if lab is None:
        return
    import tomllib  # here, because only a lab file needs it

    try:
        top = tomllib.loads(lab.data.decode())
    except (ValueError, RecursionError):
        return
    yield from _find(top)


def _find(table: Mapping[str, object]) -> Iterator[str]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _find(value)
        elif key.endswith("threshold_json") and isinstance(value, str):
            yield value


def local_user() -> str:
    """The name of who runs this."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "user"
