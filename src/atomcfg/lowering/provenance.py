"""What a plan says of its origin: inputs, choices, the line of every spec."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping

from atomcfg._version import __version__
from atomcfg.documents import Document
from atomcfg.passes.states import Bound, BoundSpec
from atomcfg.plan import InputFile, Provenance, TraceEntry
from atomcfg.positions import KeyFinder, locate

__all__ = ["provenance_of"]


def provenance_of(bound: Bound, trace: tuple[TraceEntry, ...]) -> Provenance:
    """Shown to people; never executed or judged."""
    flat = bound.expanded.built.enlisted.flat
    sources = flat.parsed.sources
    documents = {item.document.origin(()).name for specs in _tables(bound).values() for item in specs}
    stated = flat.document.get("threshold_json")
    used = documents | ({stated} if isinstance(stated, str) else set())
    inputs = [sources.config, *(source for source in sources.thresholds if used & {source.name, source.reached_as})]
    inputs += [source for source in (sources.cluster, sources.lab) if source is not None]
    return Provenance(
        tool=f"atomcfg {__version__}",
        inputs=tuple(InputFile(item.role, item.name, hashlib.sha256(item.data).hexdigest()) for item in inputs),
        profile_chosen_by=flat.profile_source,
        overrides=tuple((path, json.dumps(value)) for path, value in flat.parsed.options.overrides),
        spec_lines=tuple(_spec_lines(bound)),
        trace=trace,
        notes=(),
        run_card=tuple(sorted(bound.expanded.built.settings.run_card.items())),
    )


def _tables(bound: Bound) -> Mapping[str, tuple[BoundSpec, ...]]:
    """All bound specs by owner: cell id, task id, needle id, or block."""
    return {
        **bound.cells,
        **bound.accuracy,
        **bound.long_context,
        "mtp_quality": bound.mtp_quality,
        "quant_parity": bound.quant_parity,
    }


def _spec_lines(bound: Bound) -> Iterator[tuple[str, str]]:
    """("<owner>/<metric>", "file:line") for every spec, in one walk over the text."""
    owners = [(owner, specs) for owner, specs in _tables(bound).items() if specs]
    if not owners:
        return
    document = owners[0][1][0].document
    origin = document.origin(())
    order = _order_in_file(document, owners[0][1][0].path[:-2])
    owners.sort(key=lambda item: order.get(item[1][0].path[-2], len(order)))
    start = _offset(origin.text, owners[0][1][0].path[:-2])
    finder = KeyFinder(origin.text, start)
    for owner, specs in owners:
        finder.line(str(specs[0].path[-2]))
        for item in specs:
            line = finder.line(str(item.path[-1])) or locate(origin.text, item.path, key=True)[0]
            yield f"{owner}/{item.spec.metric}", f"{origin.name}:{line}"


def _order_in_file(document: Document, base: tuple[str | int, ...]) -> dict[str | int, int]:
    """The position of each table's key in the file, tables of a block included."""
    table = document.get(*base)
    order: dict[str | int, int] = {}
    for key, body in table.items() if isinstance(table, dict) else ():
        order.setdefault(key, len(order))
        for inner in body if isinstance(body, dict) else ():
            order.setdefault(inner, len(order))
    return order


def _offset(text: str, path: tuple[str | int, ...]) -> int:
    if not path:
        return 0
    line, column, _ = locate(text, path, key=True)
    at = 0
    for _ in range(line - 1):
        at = text.index("\n", at) + 1
    return at + column - 1
