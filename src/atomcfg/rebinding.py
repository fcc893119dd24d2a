"""Another threshold file for a plan that exists, and what a threshold file leaves open. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve, frozen

from .cellkey import CellKey, KeyFault, parse_key
from .diagnostics import Checked, Diagnostics
from .documents import Document, JsonPath, Source
from .gates.cells import cell_entries
from .gates.choose import Thresholds
from .gates.spec import Block, SpecReader
from .metrics import GATED
from .passes.check import check
from .passes.read import read
from .passes.states import BoundTable
from .plan import Cell, Plan, Spec, SpecLines
from .sources import Options, Sources

__all__ = ["Gaps", "gaps_of", "rebind"]


@frozen
class Gaps:
    """What the table of one cell key does not gate. `vacuous` gives place, metric, kind and value."""

    key: str
    profile: str
    written: int
    vacuous: tuple[tuple[str, str, str, float | None], ...]
    missing: tuple[str, ...]  # gated metrics without a spec
    recorded: tuple[str, ...]  # gated metrics that are stated as info


def rebind(plan: Plan, source: Source) -> Checked[Plan]:
    """`plan` with the specs of another threshold file; its digest stays that of the plan that ran.

    A cell or check that the file does not name has no specs. A file with profiles is read at the plan's.
    """
    found = Diagnostics()
    document = _document(source, found)
    if document is None:
        return Checked(None, found.items)
    thresholds = Thresholds(document, source.name, _base(document, plan.profile))
    tables = _tables(plan, thresholds, found)
    cells = tuple(evolve(cell, specs=_specs(tables, cell.id)) for cell in plan.cells)
    checks = plan.checks
    checks = evolve(
        checks,
        accuracy=tuple(evolve(task, specs=_specs(tables, task.id)) for task in checks.accuracy),
        long_context=tuple(evolve(needle, specs=_specs(tables, needle.id)) for needle in checks.long_context),
        mtp_quality=checks.mtp_quality and evolve(checks.mtp_quality, specs=_specs(tables, Block.MTP.value)),
        quant_parity=checks.quant_parity and evolve(checks.quant_parity, specs=_specs(tables, Block.QUANT.value)),
    )
    lines = tuple(_lines(source.name, owner, table) for owner, table in tables.items() if table.specs)
    provenance = evolve(plan.provenance, spec_tables=lines)
    return Checked.of(evolve(plan, cells=cells, checks=checks, provenance=provenance), found)


def gaps_of(source: Source) -> Checked[tuple[Gaps, ...]]:
    """The specs of a threshold file that cannot fail, and the gated metrics that it does not bound."""
    found = Diagnostics()
    document = _document(source, found)
    if document is None:
        return Checked(None, found.items)
    profiles = document.get("profiles")
    names = [name for name in profiles if not name.startswith("_")] if isinstance(profiles, dict) else [""]
    reader, gaps = SpecReader(True, found), []
    for name in names:
        thresholds = Thresholds(document, source.name, ("profiles", name) if name else ())
        for key, place in cell_entries(thresholds, found).items():
            gaps.append(_gaps(str(key), name, reader.read_at(thresholds, place, Block.CELL)))
    return Checked.of(tuple(gaps), found)


def _document(source: Source, found: Diagnostics) -> Document | None:
    parsed = read(Sources(source), Options())
    found.extend(parsed.diagnostics)
    if parsed.value is None:
        return None
    faults = check(parsed.value.config, "threshold")
    found.extend(faults)
    return None if found.has_errors else parsed.value.config


def _base(document: Document, profile: str) -> JsonPath:
    return ("profiles", profile) if isinstance(document.get("profiles"), dict) else ()


def _tables(plan: Plan, thresholds: Thresholds, found: Diagnostics) -> dict[str, BoundTable]:
    """The table of every cell and check of the plan that the file names, by owner."""
    reader, checks = SpecReader(plan.enforce_thresholds, found), plan.checks
    places = cell_entries(thresholds, found)
    tables = {
        cell.id: reader.read_at(thresholds, places[key], Block.CELL, cell.num_prompts)
        for cell, key in _keyed(plan.cells)
        if key in places
    }
    named = [(Block.ACCURACY, task.id) for task in checks.accuracy]
    named += [(Block.LONG_CONTEXT, needle.id) for needle in checks.long_context]
    for block, name in named:
        tables[name] = reader.read_at(thresholds, (*thresholds.base, block.value, name), block)
    for block in (Block.MTP, Block.QUANT):
        tables[block.value] = reader.read_at(thresholds, (*thresholds.base, block.value), block)
    return tables


def _keyed(cells: Iterable[Cell]) -> list[tuple[Cell, CellKey]]:
    pairs = ((cell, parse_key(cell.key)) for cell in cells)
    return [(cell, parsed.key) for cell, parsed in pairs if not isinstance(parsed, KeyFault)]


def _specs(tables: dict[str, BoundTable], owner: str) -> tuple[Spec, ...]:
    return tables[owner].specs if owner in tables else ()


def _lines(file: str, owner: str, table: BoundTable) -> SpecLines:
    places = [table.span(index).line for index in range(len(table.specs))]
    metrics = tuple((spec.metric, place) for spec, place in zip(table.specs, places, strict=True))
    return SpecLines(file, metrics, ((owner, 0),))


def _gaps(key: str, profile: str, table: BoundTable) -> Gaps:
    stated = {spec.metric: spec for spec in table.specs}
    vacuous = [
        (f"{span.file}:{span.line}", spec.metric, spec.kind, spec.value)
        for index, spec in enumerate(table.specs)
        if spec.vacuous
        for span in (table.span(index),)
    ]
    return Gaps(
        key=key,
        profile=profile,
        written=len(table.specs),
        vacuous=tuple(vacuous),
        missing=tuple(name for name in GATED if name not in stated),
        recorded=tuple(name for name in GATED if name in stated and stated[name].kind == "info"),
    )
