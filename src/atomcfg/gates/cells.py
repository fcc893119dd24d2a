"""Cell keys of the threshold file are matched to the cells of the sweep."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import astuple, frozen

from atomcfg.cellkey import CellKey, KeyFault, ParsedKey, looks_like_key, parse_key
from atomcfg.diagnostics import Diagnostics, Related
from atomcfg.documents import JsonPath
from atomcfg.passes.states import BoundTable, Expanded
from atomcfg.suggest import counted

from .choose import Thresholds
from .spec import Block, SpecReader

__all__ = ["CellGates", "bind_cells", "cell_entries"]

_DIMENSIONS = ("ISL", "OSL", "TP", "PP", "CONC")


@frozen(eq=False, repr=False)
class CellGates:
    """The specs of every cell that has an entry, and the places of the entries, by cell id."""

    specs: Mapping[str, BoundTable]
    places: Mapping[str, JsonPath]
    judged: frozenset[str]  # the metrics that some spec of a cell bounds


def bind_cells(
    expanded: Expanded, thresholds: Thresholds | None, reader: SpecReader, found: Diagnostics
) -> CellGates:
    """Entries of the threshold file to cells; keys that cannot be read, or that are for no cell, are reported."""
    if thresholds is None:
        return CellGates({}, {}, frozenset())
    entries = cell_entries(thresholds, found)
    prompts = expanded.built.settings.params.num_prompts
    places = {cell.id: entries[cell.key] for cell in expanded.cells if cell.key in entries}
    specs = {cell_id: reader.read_at(thresholds, place, Block.CELL, prompts) for cell_id, place in places.items()}
    _report_unmatched(expanded, thresholds, entries, found)
    return CellGates(specs, places, reader.judged)


def cell_entries(thresholds: Thresholds, found: Diagnostics) -> dict[CellKey, JsonPath]:
    """The place of every cell key that can be read; what is wrong with keys is reported."""
    entries: dict[CellKey, JsonPath] = {}
    odd: list[tuple[JsonPath, ParsedKey]] = []
    for text in thresholds.table:
        if text.startswith("_") or not looks_like_key(text):
            continue
        path = (*thresholds.base, text)
        parsed = parse_key(text)
        if isinstance(parsed, KeyFault):
            span = thresholds.document.span(path, key=True)
            hint = "write it like ISL=1024,OSL=1024,TP=8,PP=1,CONC=128"
            found.error("A701", f"not a cell key: {parsed.message}", span, hint)
            continue
        if not parsed.canonical:
            odd.append((path, parsed))
        if parsed.key in entries:
            span = thresholds.document.span(path, key=True)
            first = thresholds.document.span(entries[parsed.key], key=True)
            summary = f"two keys for one cell, {parsed.key}"
            found.error("A806", summary, span, "keep one of the two", [Related("the other", first)])
            continue
        entries[parsed.key] = path
    _report_odd(thresholds, odd, found)
    return entries


def _report_odd(thresholds: Thresholds, odd: list[tuple[JsonPath, ParsedKey]], found: Diagnostics) -> None:
    """Older forms are one warning a file, other spellings one note."""
    legacy = [(path, parsed) for path, parsed in odd if parsed.legacy]
    if legacy:
        path, parsed = legacy[0]
        names = sorted({name for _, item in legacy for name in item.legacy})
        what = ", ".join("without PP" if name == "PP" else f"with {name}" for name in names)
        summary = f"{counted(legacy, 'cell key')} in an older form: {what}"
        span = thresholds.document.span(path, key=True)
        found.warning("A702", summary, span, f"write {parsed.key}; atomcfg migrate does it")
    spelt = [(path, parsed) for path, parsed in odd if not parsed.legacy]
    if spelt:
        path, parsed = spelt[0]
        summary = f"{counted(spelt, 'cell key')} not in canonical form"
        found.note("A807", summary, thresholds.document.span(path, key=True), f"write {parsed.key}")


def _report_unmatched(
    expanded: Expanded, thresholds: Thresholds, entries: dict[CellKey, JsonPath], found: Diagnostics
) -> None:
    """A key for no cell: a warning where a cell without thresholds is near, else part of one note."""
    keys = {cell.key for cell in expanded.cells} | expanded.sibling_keys
    strangers = [key for key in entries if key not in keys]
    bare = {cell.key for cell in expanded.cells if cell.key not in entries}
    masked = {mask: key for key in bare for mask in _masks(key)}
    far = []
    for key in strangers:
        near = _slip(key, bare) or next((masked[mask] for mask in _masks(key) if mask in masked), None)
        if near is None:
            far.append(key)
            continue
        span = thresholds.document.span(entries[key], key=True)
        names = [name for name, a, b in zip(_DIMENSIONS, astuple(key), astuple(near), strict=True) if a != b]
        slip = "; 1000 is not 1024" if _slip(key, {near}) else ""
        summary = f"this key is for no cell, but {near} has no thresholds"
        found.warning("A808", summary, span, f"they differ in {', '.join(names)}{slip}")
    if far:
        span = thresholds.document.span(entries[far[0]], key=True)
        summary = f"{counted(far, 'key')} for cells of other configs"
        found.note("A809", summary, span, "shipped threshold files serve several configs")


def _masks(key: CellKey) -> list[tuple[int, ...]]:
    """The key with one dimension left out, for each dimension: equal masks mean keys that differ there only."""
    values = astuple(key)
    return [(index, *values[:index], *values[index + 1 :]) for index in range(len(values))]


def _slip(key: CellKey, keys: set[CellKey]) -> CellKey | None:
    """A key of `keys` that differs by 1000 for 1024 in ISL or OSL."""
    for isl in _decimal(key.isl):
        for osl in _decimal(key.osl):
            other = CellKey(isl, osl, key.tp, key.pp, key.conc)
            if other != key and other in keys:
                return other
    return None


def _decimal(length: int) -> list[int]:
    others = [length]
    if length % 1000 == 0:
        others.append(length // 1000 * 1024)
    if length % 1024 == 0:
        others.append(length // 1024 * 1000)
    return others
