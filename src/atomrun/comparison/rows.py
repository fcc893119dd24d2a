"""Measurements of two runs, joined on the cell key: what changed, by how much, for better or worse."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from atomcfg.metrics import Direction, find

from .sheet import Sheet, SheetCell

__all__ = ["Change", "cell_changes", "score_changes", "unmatched"]


@frozen
class Change:
    """One metric on both sides. `delta_pct` is 100 x (ours - theirs) / theirs, `ratio` ours / theirs; None where
    the divisor is 0. `better`: None where neither direction is."""

    key: str  # cell key, or "" of a score
    cell: str
    metric: str
    unit: str
    ours: float
    theirs: float
    delta: float
    delta_pct: float | None
    ratio: float | None
    better: bool | None


def cell_changes(ours: Sheet, theirs: Sheet, metrics: Iterable[str]) -> tuple[Change, ...]:
    """A row per cell that is valid on both sides and metric that both have, in our order."""
    others = {cell.key: cell for cell in theirs.cells if _counts(cell)}
    names = tuple(metrics)
    return tuple(
        _change(cell.key, cell.id, name, cell.values[name], others[cell.key].values[name])
        for cell in ours.cells
        if _counts(cell) and cell.key in others
        for name in names
        if name in cell.values and name in others[cell.key].values
    )


def score_changes(ours: Sheet, theirs: Sheet) -> tuple[Change, ...]:
    """A row per score that both have under the same task, metric and filter; gsm8k's flexible extract leads."""
    shared = [name for name in ours.accuracy if name in theirs.accuracy and "_stderr" not in name]
    shared.sort(key=lambda name: (not (name.startswith("gsm8k") and name.endswith("__flexible-extract")), name))
    return tuple(_change("", "", name, ours.accuracy[name], theirs.accuracy[name]) for name in shared)


def unmatched(ours: Sheet, theirs: Sheet) -> tuple[str, ...]:
    """Cells that have no partner, and why, one a line."""
    mine, others = ({cell.key: cell for cell in sheet.cells} for sheet in (ours, theirs))
    lines = []
    for key in dict.fromkeys((*mine, *others)):
        states = [side[key].state if key in side else "absent" for side in (mine, others)]
        if states != ["valid", "valid"]:
            lines.append(f"{key}: {states[0]} here, {states[1]} there")
    return tuple(lines)


def _counts(cell: SheetCell) -> bool:
    return cell.state == "valid"


def _change(key: str, cell: str, metric: str, ours: float, theirs: float) -> Change:
    known = find(metric)
    direction = known.direction if known is not None else Direction.NEITHER
    better = (
        None
        if direction is Direction.NEITHER or ours == theirs
        else (ours > theirs) is (direction is Direction.HIGHER)
    )
    return Change(
        key=key,
        cell=cell,
        metric=metric,
        unit=known.unit if known is not None else "",
        ours=ours,
        theirs=theirs,
        delta=ours - theirs,
        delta_pct=100 * (ours - theirs) / theirs if theirs else None,
        ratio=ours / theirs if theirs else None,
        better=better,
    )
