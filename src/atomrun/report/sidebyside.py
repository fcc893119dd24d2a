"""Two runs on a terminal: what they do not share, then every figure with its change, the worst first."""

from __future__ import annotations

from collections.abc import Iterable

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from atomrun.comparison import Change, Comparison
from atomrun.figures import FIGURES, number, visible

__all__ = ["side_by_side"]

_STYLES = {True: "green", False: "bold red", None: ""}
_WORDS = {True: "better", False: "worse", None: ""}
_SAME = 0.05  # percent: below, it rounds to 0.0


def side_by_side(found: Comparison, width: int) -> RenderableType:
    """`width` in columns; below 80 the unit is left out."""
    parts: list[RenderableType] = [Text(f"{found.theirs.run_id}\n  against it: {found.ours.run_id}", style="bold")]
    if found.differs:
        parts.append(_differences(found))
    shown = [change for change in found.cells if change.metric in FIGURES]
    parts.append(_changes("figures of the cells, worst first", shown, width))
    if found.scores:
        parts.append(_changes("scores", found.scores, width))
    parts += [Text(visible(f"not compared: {line}"), style="yellow") for line in found.unmatched]
    parts += [Text(visible(note), style="yellow") for note in found.notes]
    parts.append(Text(_sum(shown)))
    return Group(*parts)


def _differences(found: Comparison) -> Table:
    table = _table("what differs")
    for name in ("", "baseline", "other"):
        table.add_column(name, overflow="fold")
    for item in found.differs:
        sides = (Text(visible(side) or "not known") for side in (item.theirs, item.ours))
        table.add_row(item.what, *sides)
    return table


def _changes(title: str, changes: Iterable[Change], width: int) -> Table:
    table = _table(title)
    table.add_column("cell", overflow="fold")
    table.add_column("metric", overflow="fold")
    for name in ("baseline", "other", "change"):
        table.add_column(name, justify="right", no_wrap=True)
    if width >= 80:
        table.add_column("unit")
    table.add_column("", no_wrap=True)
    for change in sorted(changes, key=_badness):
        cells: list[RenderableType] = [
            Text(visible(change.cell)),
            Text(visible(FIGURES.get(change.metric, change.metric))),
        ]
        cells += [number(change.theirs), number(change.ours), _shown(change)]
        cells += [change.unit] if width >= 80 else []
        verdict = None if _small(change) else change.better
        table.add_row(*cells, Text(_WORDS[verdict], style=_STYLES[verdict]))
    return table


def _shown(change: Change) -> str:
    return f"{change.delta:+.4g}" if change.delta_pct is None else f"{change.delta_pct:+.1f} %"


def _small(change: Change) -> bool:
    return change.delta_pct is not None and abs(change.delta_pct) < _SAME


def _badness(change: Change) -> tuple[int, float]:
    size = abs(change.delta_pct or 0.0)
    if change.better is None or _small(change):
        return 1, -size
    return (2, size) if change.better else (0, -size)


def _sum(changes: Iterable[Change]) -> str:
    kinds = [None if _small(change) else change.better for change in changes]
    return f"{kinds.count(False)} worse, {kinds.count(True)} better, {kinds.count(None)} the same; judges nothing"


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
