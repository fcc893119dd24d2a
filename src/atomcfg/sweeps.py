"""Cells that are written as keys (`sweeps`, `runs`) become the `sweep` of the flat dialect."""

from __future__ import annotations

from attrs import evolve

from .cellkey import CellKey, KeyFault, parse_key
from .diagnostics import Diagnostics, Related
from .documents import Document, JsonPath, Origin
from .passes.states import StatedKey
from .suggest import did_you_mean

__all__ = ["cells_from_keys"]


def cells_from_keys(document: Document, found: Diagnostics) -> tuple[Document, tuple[StatedKey, ...], bool]:
    """The document with a `sweep`, the keys that stated it, and whether their order was left open.

    `sweep.runs` comes before `runs` before `sweeps`; empty or absent `runs` means every key of `sweeps`.
    """
    sweep_runs = document.get("sweep", "runs")
    top = document.value
    assert isinstance(top, dict)
    if sweep_runs is not None or ("sweeps" not in top and "runs" not in top):
        return document, (), False
    sweeps = top.get("sweeps")
    known = {key for key in sweeps if not key.startswith("_")} if isinstance(sweeps, dict) else set()
    runs = top.get("runs")
    unordered = not (isinstance(runs, list) and runs)
    if unordered:
        places: list[tuple[str, JsonPath]] = [
            (key, ("sweeps", key)) for key in (sweeps if isinstance(sweeps, dict) else {}) if key in known
        ]
    else:
        assert isinstance(runs, list)
        places = [(str(key), ("runs", index)) for index, key in enumerate(runs)]
    parsed = _parse(document, places, unordered, found)
    if not unordered and known:
        _check_listed(parsed, known, found)
    return _document(document, parsed), _stated(parsed), unordered


def _parse(
    document: Document, places: list[tuple[str, JsonPath]], as_key: bool, found: Diagnostics
) -> list[tuple[CellKey, Origin]]:
    parsed: list[tuple[CellKey, Origin]] = []
    first: dict[CellKey, JsonPath] = {}
    for text, path in places:
        result = parse_key(text)
        if isinstance(result, KeyFault):
            hint = "write it like ISL=1024,OSL=1024,TP=8,PP=1,CONC=128"
            found.error("A701", f"not a cell key: {result.message}", document.span(path, key=as_key), hint)
            continue
        for name in result.legacy:
            what = "no PP, so PP=1" if name == "PP" else f"{name} is not part of a key"
            span = document.span(path, key=as_key)
            found.warning("A702", f"older form of a cell key: {what}", span, f"write {result.key}")
        if first.setdefault(result.key, path) != path:
            span, other = (document.span(place, key=as_key) for place in (path, first[result.key]))
            summary = f"two keys for one cell, {result.key}"
            found.error("A806", summary, span, "keep one of the two", [Related("the other", other)])
            continue
        origin = document.origin(path)
        parsed.append((result.key, Origin(origin.name, origin.text, origin.path, as_key)))
    return parsed


def _check_listed(parsed: list[tuple[CellKey, Origin]], known: set[str], found: Diagnostics) -> None:
    keys = {result.key for text in known if not isinstance(result := parse_key(text), KeyFault)}
    for key, origin in parsed:
        if key not in keys:
            span = Document(None, {(): origin}).span(())
            hint = did_you_mean(str(key), known) or "add it to sweeps"
            found.error("A703", f"{key} is not in sweeps", span, hint)


def _stated(parsed: list[tuple[CellKey, Origin]]) -> tuple[StatedKey, ...]:
    return tuple(StatedKey(key, ("sweep", "runs", index)) for index, (key, _) in enumerate(parsed))


def _document(document: Document, parsed: list[tuple[CellKey, Origin]]) -> Document:
    assert isinstance(document.value, dict)
    combos: dict[str, dict[str, object]] = {}
    runs: list[dict[str, object]] = []
    origins = dict(document.origins)
    for index, (key, origin) in enumerate(parsed):
        name = f"isl{key.isl}_osl{key.osl}"
        combos.setdefault(name, {"name": name, "isl": key.isl, "osl": key.osl})
        runs.append({"combo": name, "concurrency": key.conc})
        for path in (("sweep", "runs", index), ("sweep", "runs", index, "concurrency")):
            origins[path] = origin
    for index, name in enumerate(combos):
        first = next(i for i, run in enumerate(runs) if run["combo"] == name)
        origins[("sweep", "sequence_combinations", index)] = parsed[first][1]
    rest = {key: value for key, value in document.value.items() if key not in ("sweeps", "runs", "sweep")}
    sweep = {"sequence_combinations": list(combos.values()), "runs": runs}
    origins[("sweep",)] = document.origin(("sweeps",)) if "sweeps" in document.value else document.origin(("runs",))
    return evolve(document, value={**rest, "sweep": sweep}, origins=origins)
