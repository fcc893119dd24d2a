"""Per-GPU floors that were set with CVS's divisor, set again with the number of GPUs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from atomcfg.diagnostics import Diagnostics, Span
from atomcfg.documents import dotted
from atomcfg.gates.divisor import floors_by_tp
from atomcfg.plan import Cell, Plan

from .job import Job, Path, Table, put

__all__ = ["rescaled"]

_KINDS = ("min", "min_tok_s")
_DIGITS = 3


def rescaled(jobs: Iterable[Job], tables: Mapping[str, Table], found: Diagnostics) -> dict[str, Table]:
    """`tables` with the floors divided that `A827` warns of. A file may serve several configs, if they agree."""
    wanted: dict[tuple[str, Path], tuple[int, str]] = {}
    for job in jobs:
        for profile, plan in job.plans.items():
            place = job.place(profile, tables)
            if place is None:
                continue
            table, base = place
            for path in _suspects(plan):
                factor = plan.topology.gpus // plan.topology.tensor_parallelism
                here = (table.source.name, (*base, *path))
                known, other = wanted.setdefault(here, (factor, job.config.name))
                if known != factor:
                    summary = f"a floor serves configs of different size: {other} and {job.config.name}"
                    span = Span(table.source.name, path=dotted(here[1]))
                    found.error("A911", summary, span, "give each config its own threshold file")
    return {name: _divided(table, _of(name, wanted)) for name, table in tables.items()}


def _suspects(plan: Plan) -> list[Path]:
    topology = plan.topology
    if topology.gpus == topology.tensor_parallelism:
        return []
    return [
        (cell.key, metric)
        for cell in plan.cells
        for metric in floors_by_tp(_floors(cell), topology.tensor_parallelism)
    ]


def _floors(cell: Cell) -> dict[str, float]:
    return {spec.metric: spec.value for spec in cell.specs if spec.kind in _KINDS and spec.value is not None}


def _of(name: str, wanted: Mapping[tuple[str, Path], tuple[int, str]]) -> dict[Path, int]:
    return {path: factor for (table, path), (factor, _) in wanted.items() if table == name}


def _divided(table: Table, factors: Mapping[Path, int]) -> Table:
    value = table.value
    for path, factor in factors.items():
        here: object = value
        for step in path:
            assert isinstance(here, dict)
            here = here[step]
        assert isinstance(here, dict)
        value = put(value, (*path, "value"), _quotient(here["value"], factor))
    if not factors:
        return table
    by = ", ".join(str(factor) for factor in sorted(set(factors.values())))
    return table.with_value(value, f"{len(factors)} per-GPU floors divided by {by}: the run has more GPUs than TP")


def _quotient(value: object, factor: int) -> float:
    assert isinstance(value, int | float)
    if isinstance(value, int) and value % factor == 0:
        return value // factor
    return round(float(value) / factor, _DIGITS)
