"""The comparison panels as the deck lays them out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import frozen

from atomrun.comparison import Change, Panel, PanelStatus
from atomrun.figures import FIGURES, number

__all__ = ["Versus", "versus"]

_TITLES = {
    "prev_run": "Throughput against the previous run",
    "accuracy_prev_run": "Accuracy against the previous run",
    "framework_parity": "Parity with another driver",
}
_MORE = {"total_token_throughput": "total tok/s"}
_SIDES = ("here", "there", "change")
_SMALL = 1.0  # percent within which a change is drawn as none


@frozen
class Entry:
    """What one metric came to; `detail` has both sides."""

    text: str
    tone: str
    detail: str


@frozen
class Line:
    """One cell, or one score."""

    of: str
    entries: tuple[Entry, ...]


@frozen
class Versus:
    """One panel. `against` names the other run, `differs` what the two do not share."""

    title: str
    reason: str
    against: str
    differs: tuple[tuple[str, str, str], ...]
    of: str
    heads: tuple[str, ...]
    lines: tuple[Line, ...]
    unmatched: tuple[str, ...]


def versus(panels: Iterable[Panel]) -> tuple[Versus, ...]:
    """The panels that were asked for, shown or refused."""
    return tuple(_versus(panel) for panel in panels if panel.status is not PanelStatus.ABSENT)


def _versus(panel: Panel) -> Versus:
    other = panel.other
    scores = panel.name == "accuracy_prev_run"
    metrics = (
        [] if scores else [name for name in (*FIGURES, *_MORE) if any(name == row.metric for row in panel.rows)]
    )
    return Versus(
        title=_TITLES[panel.name],
        reason=panel.reason,
        against="" if other is None else f"{other.run_id} ({other.driver} on {other.arch}, {other.verdict})",
        differs=tuple((item.what, item.ours, item.theirs) for item in panel.differs),
        of="score" if scores else "cell",
        heads=_SIDES if scores else tuple(FIGURES.get(name, _MORE.get(name, name)) for name in metrics),
        lines=_scores(panel) if scores else _cells(panel, metrics),
        unmatched=panel.unmatched,
    )


def _scores(panel: Panel) -> tuple[Line, ...]:
    def entries(change: Change) -> tuple[Entry, ...]:
        sides = (Entry(number(value), "", "") for value in (change.ours, change.theirs))
        return (*sides, Entry(f"{change.delta:+.4f}", _tone(change), ""))

    return tuple(Line(change.metric, entries(change)) for change in panel.rows)


def _cells(panel: Panel, metrics: Sequence[str]) -> tuple[Line, ...]:
    """A line per cell; what a cell did not measure on both sides is left open."""
    found: dict[str, dict[str, Change]] = {}
    for change in panel.rows:
        found.setdefault(change.cell, {})[change.metric] = change
    parity = panel.name == "framework_parity"
    return tuple(
        Line(cell, tuple(_entry(changes.get(name), parity) for name in metrics)) for cell, changes in found.items()
    )


def _entry(change: Change | None, parity: bool) -> Entry:
    if change is None:
        return Entry("–", "", "")
    ratio = "–" if change.ratio is None else f"{change.ratio:.3f} x"
    percent = "–" if change.delta_pct is None else f"{change.delta_pct:+.1f} %"
    detail = f"{number(change.ours)} here, {number(change.theirs)} there ({change.unit})"
    return Entry(ratio if parity else percent, _tone(change), detail)


def _tone(change: Change) -> str:
    small = change.delta_pct is not None and abs(change.delta_pct) < _SMALL
    return "calm" if change.better is None or small else "good" if change.better else "warn"
