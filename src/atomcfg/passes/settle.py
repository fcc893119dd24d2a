"""Lab values and overrides go in first: `<name>` tokens, `[set]`, `--set`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from attrs import evolve

from atomcfg.diagnostics import Checked, Diagnostics, Span
from atomcfg.dialect import PROFILES, SERVING, dialect_of
from atomcfg.documents import Document, JsonPath, Origin, dotted
from atomcfg.edit import place, rewrite
from atomcfg.paths import parse_path

from .check import check
from .states import Parsed

__all__ = ["settle"]

_NAMED = r"<([A-Za-z][A-Za-z0-9_-]*)>|\{(head-node-ip|worker-node-ip)\}"
_SERVING_ONLY = ("server_params", "benchmark_params")
_FLAT_ONLY = ("params", "roles")


def settle(parsed: Parsed) -> Checked[Parsed]:
    """Put in what the lab file and the options give; what fits nothing is a warning (lab) or an error (option)."""
    found = Diagnostics()
    if parsed.lab is not None:
        found.extend(check(parsed.lab, "lab"))
    if found.has_errors:
        return Checked(None, found.items)
    used: set[JsonPath] = set()
    config = parsed.config
    for origin, path, value in _lab_settings(parsed):
        changed = _apply(config, path, value, origin)
        if changed is None:
            continue
        config = changed
        used.add(origin.path)
    values = dict(_lab_values(parsed))
    config = _substitute(config, values, used)
    cluster = _substitute(parsed.cluster, values, used) if parsed.cluster else None
    for text, value in parsed.options.overrides:
        config = _override(config, text, value, found)
    _report_unused(parsed, used, found)
    return Checked.of(evolve(parsed, config=config, cluster=cluster), found)


def _override(config: Document, text: str, value: object, found: Diagnostics) -> Document:
    span = Span("--set", path=text)
    path = parse_path(text)
    if path is None:
        found.error("A301", f'"{text}" is not a path', span, "write it like params.num_prompts or sweep.runs[0]")
        return config
    changed = _apply(config, path, value, Origin("--set"))
    if changed is None:
        found.error("A302", f'no place "{text}" in this config', span, _where_else(config))
        return config
    return changed


def _where_else(config: Document) -> str:
    top = config.value if isinstance(config.value, dict) else {}
    names = ", ".join(key for key in top if not key.startswith("_"))
    return f"it has {names}" if names else ""


def _apply(config: Document, path: JsonPath, value: object, origin: Origin) -> Document | None:
    """The config with `value` at `path`; None if the path does not fit its dialect.

    Where the file has profiles, a path outside `profiles` is set in each of them, so that it always wins.
    """
    dialect = dialect_of(config.value)
    top = config.value
    if not isinstance(top, dict):
        return None
    foreign = _FLAT_ONLY if dialect == SERVING else _SERVING_ONLY
    if path[0] in foreign or (path[0] == "profiles" and dialect != PROFILES):
        return None
    targets = [path]
    if dialect == PROFILES:
        profiles = top["profiles"]
        if path[0] == "profiles":
            if len(path) < 2 or path[1] not in profiles:
                return None
        elif path[0] not in ("default_profile", "schema_version", "framework"):
            targets = [("profiles", name, *path) for name, body in profiles.items() if isinstance(body, dict)]
    if path[0] != "profiles" and place(top, path, value) is None:
        return None
    changed: object = top
    origins = dict(config.origins)
    for target in targets:
        changed = place(changed, target, value)
        if changed is None:
            return None
        origins[target] = origin
    return Document(changed, origins)


def _tables(parsed: Parsed) -> Iterator[tuple[JsonPath, dict[str, object]]]:
    """The lab tables that concern this config, the general ones first."""
    lab = parsed.lab
    if lab is None or not isinstance(lab.value, dict):
        return
    yield (), lab.value
    own = lab.get("per_config", parsed.sources.config.stem)
    if isinstance(own, dict):
        yield ("per_config", parsed.sources.config.stem), own


def _lab_origin(parsed: Parsed, path: JsonPath) -> Origin:
    assert parsed.lab is not None
    return parsed.lab.origin(path)


def _lab_settings(parsed: Parsed) -> Iterator[tuple[Origin, JsonPath, object]]:
    for base, table in _tables(parsed):
        settings = table.get("set")
        if isinstance(settings, dict):
            for steps, path, value in _leaves(settings, (), ()):
                yield _lab_origin(parsed, (*base, "set", *steps)), path, value


def _leaves(
    table: dict[str, object], steps: JsonPath, path: JsonPath
) -> Iterator[tuple[JsonPath, JsonPath, object]]:
    """The steps in the lab file, the configuration path they spell, and the value."""
    for key, value in table.items():
        inner = (*path, *(parse_path(key) or (key,)))
        if isinstance(value, dict):
            yield from _leaves(value, (*steps, key), inner)
        else:
            yield (*steps, key), inner, value


def _lab_values(parsed: Parsed) -> Iterator[tuple[str, tuple[str, Origin]]]:
    for base, table in _tables(parsed):
        values = table.get("values")
        if isinstance(values, dict):
            for name, value in values.items():
                bare = name.strip("<>{}")
                yield bare, (str(value), _lab_origin(parsed, (*base, "values", name)))


def _substitute(document: Document, values: dict[str, tuple[str, Origin]], used: set[JsonPath]) -> Document:
    if not values:
        return document

    def change(text: str, _path: JsonPath) -> str:
        return re.sub(_NAMED, one, text)

    def one(match: re.Match[str]) -> str:
        known = values.get(match.group(1) or match.group(2))
        if known is None:
            return match.group()
        used.add(known[1].path)
        return known[0]

    return rewrite(document, change, "<{")


def _report_unused(parsed: Parsed, used: set[JsonPath], found: Diagnostics) -> None:
    for origin, path, _ in _lab_settings(parsed):
        if origin.path not in used:
            span = parsed.lab.span(origin.path, key=True) if parsed.lab else Span("lab")
            found.warning("A303", f"this config has no place {dotted(path)}", span, "it was not set")
    for name, (_, origin) in _lab_values(parsed):
        if origin.path not in used:
            span = parsed.lab.span(origin.path, key=True) if parsed.lab else Span("lab")
            found.warning("A304", f"no input uses the lab value {name}", span, "remove it, or correct its name")
