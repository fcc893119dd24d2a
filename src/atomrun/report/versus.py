"""The comparison panels as the deck lays them out."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from atomrun.comparison import Change, Panel, PanelStatus
from atomrun.figures import number

__all__ = ["Versus", "versus"]

_TITLES = {
    "prev_run": "Throughput against the previous run",
    "accuracy_prev_run": "Accuracy against the previous run",
    "framework_parity": "Parity with another driver",
}
_SMALL = 1.0  # percent within which a change is drawn as none


@frozen
class Line:
    """One metric of one cell; `change` is what the panel is about: percent, points, or a ratio."""

    cell: str
    metric: str
    ours: str
    theirs: str
    unit: str
    change: str
    tone: str


@frozen
class Versus:
    """One panel. `against` names the other run, `differs` what the two do not share."""

    title: str
    shown: bool
    reason: str
    against: str
    head: str
    differs: tuple[tuple[str, str, str], ...]
    lines: tuple[Line, ...]
    unmatched: tuple[str, ...]


def versus(panels: Iterable[Panel]) -> tuple[Versus, ...]:
    """The panels that were asked for, shown or refused."""
    return tuple(_versus(panel) for panel in panels if panel.status is not PanelStatus.ABSENT)


def _versus(panel: Panel) -> Versus:
    other = panel.other
    return Versus(
        title=_TITLES[panel.name],
        shown=panel.status is PanelStatus.SHOWN,
        reason=panel.reason,
        against="" if other is None else f"{other.run_id} ({other.driver} on {other.arch}, {other.verdict})",
        head="ratio" if panel.name == "framework_parity" else "change",
        differs=tuple((item.what, item.ours, item.theirs) for item in panel.differs),
        lines=tuple(_line(change, panel.name) for change in panel.rows),
        unmatched=panel.unmatched,
    )


def _line(change: Change, panel: str) -> Line:
    if panel == "framework_parity":
        shown = "" if change.ratio is None else f"{change.ratio:.3f} x"
    elif panel == "accuracy_prev_run":
        shown = f"{change.delta:+.4f}"
    else:
        shown = "" if change.delta_pct is None else f"{change.delta_pct:+.1f} %"
    small = change.delta_pct is not None and abs(change.delta_pct) < _SMALL
    tone = "calm" if change.better is None or small else "good" if change.better else "warn"
    return Line(change.cell, change.metric, number(change.ours), number(change.theirs), change.unit, shown, tone)
