"""Which threshold file and which of its profiles a config uses."""

from __future__ import annotations

import re

from attrs import frozen

from atomcfg.diagnostics import Diagnostics, Severity
from atomcfg.documents import Document, JsonPath
from atomcfg.passes.check import check
from atomcfg.passes.states import Expanded, Flat
from atomcfg.suggest import did_you_mean

__all__ = ["Thresholds", "choose_thresholds"]

_IMPLICIT = "perf"


@frozen(eq=False, repr=False)
class Thresholds:
    """The chosen threshold document; `base` is the path of the table that holds the keys."""

    document: Document
    name: str
    base: JsonPath

    @property
    def table(self) -> dict[str, object]:
        value = self.document.get(*self.base)
        return value if isinstance(value, dict) else {}


def choose_thresholds(expanded: Expanded, found: Diagnostics) -> Thresholds | None:
    """`threshold_json` always wins; without it the only `*threshold.json` beside the config."""
    flat = expanded.built.enlisted.flat
    enforce = expanded.built.settings.enforce_thresholds
    name = _name(flat, enforce, found)
    if name is None:
        return None
    document = flat.parsed.thresholds.get(name)
    if document is None:
        _missing(flat, name, enforce, found)
        return None
    faults = check(document, "threshold")
    found.extend(faults)
    if any(item.severity is Severity.ERROR for item in faults):
        return None
    base = _profile(flat, document, found)
    if base is None:
        return None
    chosen = Thresholds(document, name, base)
    _check_calibration(expanded, chosen, found)
    return chosen


def _name(flat: Flat, enforce: bool, found: Diagnostics) -> str | None:
    stated = flat.document.get("threshold_json")
    if isinstance(stated, str):
        return stated
    siblings = flat.parsed.sources.siblings
    if len(siblings) == 1:
        return siblings[0]
    span = flat.document.span((), key=False)
    if siblings:
        summary = f"{len(siblings)} threshold files beside the config: {', '.join(siblings)}"
        found.error("A801", summary, span, 'name one: "threshold_json": "..."')
    elif enforce:
        hint = 'write "threshold_json", or "enforce_thresholds": false to record only'
        found.error("A802", "thresholds are enforced, but there is no threshold file", span, hint)
    return None


def _missing(flat: Flat, name: str, enforce: bool, found: Diagnostics) -> None:
    span = flat.document.span(("threshold_json",))
    hint = did_you_mean(name, flat.parsed.sources.siblings)
    if not hint and flat.parsed.sources.siblings:
        hint = f"beside the config: {', '.join(flat.parsed.sources.siblings)}"
    severity = Severity.ERROR if enforce or flat.document.get("threshold_json") is not None else Severity.WARNING
    found.add("A803", severity, f"no threshold file {name}", span, hint or "it is looked for beside the config")


def _profile(flat: Flat, document: Document, found: Diagnostics) -> JsonPath | None:
    profiles = document.get("profiles")
    if not isinstance(profiles, dict):
        return ()
    wanted = flat.threshold_profile
    if wanted in profiles:
        return ("profiles", wanted)
    stated = flat.document.get("threshold_profile")
    names = [name for name in profiles if not name.startswith("_")]
    span = document.span(("profiles",), key=True)
    if stated is not None:
        span = flat.document.span(("threshold_profile",))
    hint = did_you_mean(wanted, names) or f"it has {', '.join(names) or 'none'}"
    enforce = flat.document.get("enforce_thresholds") is not False
    severity = Severity.ERROR if enforce or stated is not None else Severity.WARNING
    found.add("A804", severity, f'the threshold file has no profile "{wanted}"', span, hint)
    return None


def _check_calibration(expanded: Expanded, thresholds: Thresholds, found: Diagnostics) -> None:
    """`_calibration` is read for this hint only: bounds from other hardware, driver or image."""
    settings = expanded.built.settings
    image = settings.container.image if settings.container else ""
    actual = {"arch": settings.gpu_arch, "driver": settings.params.driver, "image": image}
    for base in dict.fromkeys((thresholds.base, ())):
        for name, value in actual.items():
            path = (*base, "_calibration", name)
            noted = thresholds.document.get(*path)
            if isinstance(noted, str) and not _same(noted, value):
                summary = f"these bounds were calibrated with {name} {noted}, this config has {value}"
                found.warning("A805", summary, thresholds.document.span(path), "calibrate on this configuration")


def _same(noted: str, value: str) -> bool:
    """Equal, or one names the family (`mi3xx`) of the other (`mi325x`)."""
    return any(
        re.fullmatch(re.escape(family).replace("xx", r"\d\d"), member.removesuffix("x")) or family == member
        for family, member in ((noted, value), (value, noted))
    )
