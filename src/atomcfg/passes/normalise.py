"""Three dialects to one flat document: the profile is chosen and laid over, cells become `sweep`."""

from __future__ import annotations

import json

from attrs import evolve

from atomcfg.diagnostics import Checked, Diagnostics, Span
from atomcfg.dialect import PROFILES, SERVING, dialect_of
from atomcfg.documents import Document, Origin
from atomcfg.edit import merge
from atomcfg.serving import flatten_serving
from atomcfg.suggest import did_you_mean
from atomcfg.sweeps import cells_from_keys

from .states import Flat, Parsed

__all__ = ["normalise"]

_IMPLICIT = "perf"
_VARIABLE = "CVS_CONFIG_PROFILE"


def normalise(parsed: Parsed, profile: str | None = None) -> Checked[Flat]:
    """The flat document of one profile: `profile` if given, else the one that the rules choose."""
    found = Diagnostics()
    document = parsed.config
    dialect = dialect_of(document.value)
    _check_identity(document, dialect, found)
    if dialect == PROFILES:
        name, source = (profile, "file") if profile else _choose(parsed, found)
        if name is None:
            return Checked(None, found.items)
        document = _overlay(document, name)
    else:
        name, source = _only_perf(parsed, found)
        if dialect == SERVING:
            document = flatten_serving(document, found)
    document, keys, unordered = cells_from_keys(document, found)
    flat = Flat(
        parsed=parsed,
        document=_with_arch(document, parsed.sources.config.stem, found),
        stem=parsed.sources.config.stem,
        dialect=dialect,
        profile=name,
        profile_source=source,
        threshold_profile=_threshold_profile(document, name),
        stated_keys=keys,
        unordered_cells=unordered,
    )
    return Checked.of(flat, found)


def _check_identity(document: Document, dialect: str, found: Diagnostics) -> None:
    framework = document.get("framework")
    if framework not in (None, "atom"):
        hint = 'this tool compiles "framework": "atom"'
        found.error(
            "A212", f"framework {json.dumps(framework)} is another suite's", document.span(("framework",)), hint
        )
    version = document.get("schema_version")
    wanted = 2 if dialect == PROFILES else 1
    if version is not None and str(version) != str(wanted):
        shape = "has profiles" if dialect == PROFILES else "has no profiles"
        hint = f'write "schema_version": {wanted}, or leave it out'
        summary = f"schema_version {version} contradicts the shape: the file {shape}"
        found.error("A213", summary, document.span(("schema_version",)), hint)


def _choose(parsed: Parsed, found: Diagnostics) -> tuple[str | None, str]:
    profiles = parsed.config.get("profiles")
    assert isinstance(profiles, dict)
    names = [name for name in profiles if not name.startswith("_")]
    default = parsed.config.get("default_profile")
    wishes = (
        (parsed.options.profile, "option", Span("--config_profile")),
        (parsed.options.environment_profile, "environment", Span(_VARIABLE)),
        (default, "file", parsed.config.span(("default_profile",))),
    )
    for wish, source, span in wishes:
        if isinstance(wish, str) and wish:
            if wish in names:
                return wish, source
            hint = did_you_mean(wish, names) or f"the profiles are {', '.join(names) or 'none'}"
            found.error("A214", f'no profile "{wish}"', span, hint)
            return None, source
    if _IMPLICIT in names:
        return _IMPLICIT, "default"
    if len(names) == 1:
        return names[0], "only"
    span = parsed.config.span(("profiles",), key=True)
    hint = f"give --config_profile, or write default_profile: {', '.join(names)}"
    found.error("A215", "no profile is chosen", span, hint if names else "there is none to choose; write one")
    return None, "default"


def _only_perf(parsed: Parsed, found: Diagnostics) -> tuple[str, str]:
    hint = "a file without profiles knows only perf"
    if parsed.options.profile not in (None, _IMPLICIT):
        found.error("A214", f'no profile "{parsed.options.profile}"', Span("--config_profile"), hint)
    elif parsed.options.environment_profile not in (None, "", _IMPLICIT):
        summary = f'profile "{parsed.options.environment_profile}" is ignored'
        found.warning("A216", summary, Span(_VARIABLE), hint)
    return _IMPLICIT, "default"


def _overlay(document: Document, name: str) -> Document:
    top = document.value
    assert isinstance(top, dict)
    base = {key: value for key, value in top.items() if key not in ("profiles", "default_profile")}
    origins = dict(document.origins)
    origin = document.origin(("profiles", name))
    body = top["profiles"][name]
    value = merge(base, body, (), origins, origin) if isinstance(body, dict) else base
    for path, known in document.origins.items():
        if path[:2] == ("profiles", name) and len(path) > 2:
            origins[path[2:]] = known
    origins.setdefault((), document.origin(()))
    return Document(value, origins)


def _threshold_profile(document: Document, profile: str) -> str:
    stated = document.get("threshold_profile")
    return stated if isinstance(stated, str) else profile


def _with_arch(document: Document, stem: str, found: Diagnostics) -> Document:
    if document.get("gpu_arch") is not None:
        return document
    arch, separator, _ = stem.partition("_atom_")
    if not separator or not arch:
        span = evolve(document.span(()), line=0, text="", path="gpu_arch")
        hint = 'name the file like mi3xx_atom_..., or write "gpu_arch": "mi3xx"'
        found.error("A217", "no gpu_arch: the file name does not start with one", span, hint)
        return document
    assert isinstance(document.value, dict)
    origins = {**document.origins, ("gpu_arch",): Origin("file name")}
    return evolve(document, value={**document.value, "gpu_arch": arch}, origins=origins)
