"""The knee of a sweep: where more concurrency stops to bring throughput. A bound that fails beyond it tells of
saturation before it tells of a regression."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from atomcfg.plan import Cell, Plan

from .results import CellResult, CellState

__all__ = ["knee", "past_knee"]

_WORTH = 0.10  # more throughput

Level = tuple[int, float]  # concurrency, output tok/s


def knee(levels: Iterable[Level]) -> int | None:
    """The lowest concurrency beyond which no level of the sweep brings 10 % more throughput; None while it pays to
    go on. One slow cell below a faster one is no knee."""
    ordered = sorted(levels)
    for at, (concurrency, throughput) in enumerate(ordered[:-1]):
        if max(later for _, later in ordered[at + 1 :]) < (1 + _WORTH) * throughput:
            return concurrency
    return None


def past_knee(plan: Plan, results: Iterable[CellResult]) -> Mapping[str, str]:
    """Of every cell beyond the knee of its sweep, a sentence that says so, by cell id."""
    asked = {cell.id: cell for cell in plan.cells}
    sweeps: dict[tuple[int, int], list[tuple[Cell, float]]] = {}
    for result in results:
        cell = asked.get(result.id)
        if cell is not None and result.state is CellState.VALID and "output_throughput" in result.values:
            sweeps.setdefault((cell.isl, cell.osl), []).append((cell, result.values["output_throughput"]))
    told = {}
    for measured in sweeps.values():
        top = knee((cell.concurrency, value) for cell, value in measured)
        for cell, value in measured:
            if top is not None and cell.concurrency > top:
                base = next(other for at, other in measured if at.concurrency == top)
                told[cell.id] = (
                    f"past the knee of its sweep: {cell.concurrency} requests at once bring "
                    f"{100 * (value / base - 1):+.0f} % throughput over {top}"
                )
    return told
