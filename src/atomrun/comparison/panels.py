"""The comparison panels of a report, by the names of the CVS reference. They are drawn, and judge nothing."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from attrs import frozen

from atomcfg.metrics import GATED, METRICS, Tier

from .differences import Difference, differences, same_run, unequal
from .rows import Change, cell_changes, score_changes, unmatched
from .sheet import Sheet

__all__ = ["Panel", "PanelStatus", "accuracy_prev_run", "framework_parity", "prev_run"]

_THROUGHPUT = ("output_throughput", "total_token_throughput")
_RATIOS = tuple(name for name in GATED if METRICS[name].tier is not Tier.HEALTH)


class PanelStatus(StrEnum):
    ABSENT = "absent"  # there is nothing to compare with
    REFUSED = "refused"
    EMPTY = "empty"  # nothing is on both sides
    SHOWN = "shown"


@frozen
class Panel:
    """One comparison of this run (`ours`) with another (`theirs`). `reason` says why nothing is shown."""

    name: str
    status: PanelStatus
    reason: str = ""
    source: str = ""  # the file that was read
    other: Sheet | None = None
    differs: tuple[Difference, ...] = ()
    rows: tuple[Change, ...] = ()
    unmatched: tuple[str, ...] = ()


Theirs = Sheet | str | None


def prev_run(ours: Sheet, theirs: Theirs, source: str = "") -> Panel:
    """Throughput per cell against an earlier run of the same driver on the same arch, joined on the cell key.

    `theirs` is None when no report was named, and a reason when it could not be read from `source`.
    """
    return _panel("prev_run", ours, theirs, source, ("model", "gpus"), _throughput)


def accuracy_prev_run(ours: Sheet, theirs: Theirs, source: str = "") -> Panel:
    """Scores against the same earlier run, by task, metric and filter."""
    return _panel("accuracy_prev_run", ours, theirs, source, ("gpus",), score_changes)


def framework_parity(ours: Sheet, theirs: Theirs, source: str = "") -> Panel:
    """Ratios per metric against another driver with the same model on the same arch, joined on the cell key."""
    return _panel("framework_parity", ours, theirs, source, ("driver", "gpus"), _ratios)


def _throughput(ours: Sheet, theirs: Sheet) -> tuple[Change, ...]:
    return cell_changes(ours, theirs, _THROUGHPUT)


def _ratios(ours: Sheet, theirs: Sheet) -> tuple[Change, ...]:
    return cell_changes(ours, theirs, _RATIOS)


Rows = Callable[[Sheet, Sheet], tuple[Change, ...]]


def _panel(name: str, ours: Sheet, theirs: Theirs, source: str, across: tuple[str, ...], rows: Rows) -> Panel:
    if theirs is None:
        return Panel(name, PanelStatus.ABSENT, "no report was named to compare with")
    if isinstance(theirs, str):
        return Panel(name, PanelStatus.REFUSED, theirs, source)
    differs = differences(ours, theirs)
    refused = _refusal(ours, theirs, across)
    if refused:
        return Panel(name, PanelStatus.REFUSED, refused, source, theirs, differs)
    found = rows(ours, theirs)
    return Panel(
        name=name,
        status=PanelStatus.SHOWN if found else PanelStatus.EMPTY,
        reason="" if found else "nothing was measured on both sides",
        source=source,
        other=theirs,
        differs=differs,
        rows=found,
        unmatched=unmatched(ours, theirs) if rows is not score_changes else (),
    )


def _refusal(ours: Sheet, theirs: Sheet, across: tuple[str, ...]) -> str:
    if "driver" in across and ours.driver == theirs.driver and ours.run_id != theirs.run_id:
        return f"both runs are of driver {ours.driver}"
    return same_run(ours, theirs) or "; ".join(
        f"{item.what} is {item.ours} here, {item.theirs} there" for item in unequal(ours, theirs, across)
    )
