"""What a plan says of its origin: inputs, choices, the line of every spec."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping

from atomcfg._version import __version__
from atomcfg.documents import JsonPath
from atomcfg.passes.states import Bound, BoundTable
from atomcfg.plan import InputFile, Provenance, SpecLines, TraceEntry
from atomcfg.positions import KeyFinder, locate

__all__ = ["provenance_of"]


def provenance_of(bound: Bound, trace: tuple[TraceEntry, ...]) -> Provenance:
    """Shown to people; never executed or judged."""
    flat = bound.expanded.built.enlisted.flat
    sources = flat.parsed.sources
    tables = _tables(bound)
    documents = {table.document.origin(()).name for table in tables.values()}
    stated = flat.document.get("threshold_json")
    used = documents | ({stated} if isinstance(stated, str) else set())
    inputs = [sources.config, *(source for source in sources.thresholds if used & {source.name, source.reached_as})]
    inputs += [source for source in (sources.cluster, sources.lab) if source is not None]
    return Provenance(
        tool=f"atomcfg {__version__}",
        inputs=tuple(InputFile(item.role, item.name, hashlib.sha256(item.data).hexdigest()) for item in inputs),
        profile_chosen_by=flat.profile_source,
        overrides=tuple((path, json.dumps(value)) for path, value in flat.parsed.options.overrides),
        spec_tables=_spec_tables(tables),
        trace=trace,
        notes=(),
        run_card=tuple(sorted(bound.expanded.built.settings.run_card.items())),
    )


def _tables(bound: Bound) -> Mapping[str, BoundTable]:
    """All bound tables that hold specs, by owner: cell id, task id, needle id, or block."""
    blocks = {"mtp_quality": bound.mtp_quality, "quant_parity": bound.quant_parity}
    every = {**bound.cells, **bound.accuracy, **bound.long_context, **blocks}
    return {owner: table for owner, table in every.items() if table is not None and table.specs}


def _spec_tables(owners: Mapping[str, BoundTable]) -> tuple[SpecLines, ...]:
    """The line of every spec, in one walk over the text."""
    if not owners:
        return ()
    some = next(iter(owners.values()))
    origin, base = some.document.origin(()), some.path[:-1]
    blocks = {table.path[-2] for table in owners.values() if len(table.path) > len(base) + 1}
    order = _order_in_file(some.document.get(*base), blocks)
    tables = sorted(owners.items(), key=lambda item: order.get(item[1].path[-1], len(order)))
    lines = _Lines(origin.text, _offset(origin.text, base))
    alike: dict[tuple[tuple[str, ...], tuple[int, ...]], list[tuple[str, int]]] = {}
    for owner, table in tables:
        line, below = lines.of(table)
        alike.setdefault((table.written, below), []).append((owner, line))
    return tuple(
        SpecLines(origin.name, tuple(zip(_metrics(owners[found[0][0]]), below, strict=True)), tuple(found))
        for (_, below), found in alike.items()
    )


def _metrics(table: BoundTable) -> list[str]:
    return [spec.metric for spec in table.specs]


class _Lines:
    """Lines of tables and their specs, asked for in the order of the text.

    Tables that differ in their numbers only have their specs on the same lines, so most are only compared.
    """

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._finder = KeyFinder(text, start)
        self._known: dict[tuple[tuple[str, ...], str], tuple[int, ...]] = {}

    def of(self, table: BoundTable) -> tuple[int, tuple[int, ...]]:
        """The line of a table's key, and how far below it the key of each spec stands."""
        line = self._finder.line(str(table.path[-1])) or self._located(table.path)
        begin = self._finder.offset
        last = self._finder.peek(table.written[-1])
        outline = (table.written, self._text[begin:last].translate(_NUMBERS))
        below = self._known.get(outline)
        if below is None:
            found = zip(table.written, self._finder.lines(table.written), strict=True)
            below = tuple([(at or self._located((*table.path, key))) - line for key, at in found])
            if self._finder.offset == last:
                self._known[outline] = below
        else:
            self._finder.skip(last)
        return line, below

    def _located(self, path: JsonPath) -> int:
        return locate(self._text, path, key=True).line


# Without the characters that numbers are made of, quotation marks and line ends stay where they were.
_NUMBERS = dict.fromkeys(map(ord, "0123456789+-.eE"))


def _order_in_file(table: object, blocks: Collection[str | int]) -> dict[str | int, int]:
    """The position of each table's key in the file, tables of a block included."""
    order: dict[str | int, int] = {}
    for key, body in table.items() if isinstance(table, dict) else ():
        order.setdefault(key, len(order))
        for inner in body if key in blocks else ():
            order.setdefault(inner, len(order))
    return order


def _offset(text: str, path: tuple[str | int, ...]) -> int:
    """Where the line of a table's key begins."""
    if not path:
        return 0
    at = 0
    for _ in range(locate(text, path, key=True).line - 1):
        at = text.index("\n", at) + 1
    return at
