"""The words of every report: what a verdict is called.

A rehearsal measures no hardware. It never says PASS or FAIL: its gates "held" or were "missed", and everything
of it says REHEARSAL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .gate import TierOutcome
from .results import CellResult, CellState, RunResult, RunVerdict, Status, Verdict

__all__ = ["cell_word", "counts", "headline", "headlines", "is_rehearsal", "status_word"]

_REHEARSED = {
    RunVerdict.PASS: "REHEARSAL: gates held",
    RunVerdict.RECORDED: "REHEARSAL: recorded",
    RunVerdict.FAIL: "REHEARSAL: gates missed",
    RunVerdict.INFRASTRUCTURE: "REHEARSAL: infrastructure failed",
    RunVerdict.NO_VERDICT: "REHEARSAL: no verdict",
    RunVerdict.INTERRUPTED: "REHEARSAL: interrupted",
}
_REHEARSED_STATUS: dict[Status, str] = {Status.PASS: "held", Status.FAIL: "missed"}


def headline(result: RunResult) -> str:
    """The verdict in a few words."""
    return headlines(is_rehearsal(result))[result.verdict]


def headlines(rehearsal: bool) -> Mapping[RunVerdict, str]:
    """What each verdict is called."""
    return _REHEARSED if rehearsal else {verdict: verdict.value for verdict in RunVerdict}


def is_rehearsal(result: RunResult) -> bool:
    return result.transport == "rehearsal"


def status_word(item: Verdict | TierOutcome, rehearsal: bool) -> str:
    """`PASS`, `FAIL`, ...; a comparison that is not enforced is a RECORD with what it would have been."""
    word = _REHEARSED_STATUS.get(item.status, item.status.value) if rehearsal else item.status.value
    if item.recorded and item.status in (Status.PASS, Status.FAIL):
        return f"RECORD ({word.lower()})"
    return word


def cell_word(cell: CellResult, outcomes: Sequence[TierOutcome], rehearsal: bool) -> str:
    """The worst of a cell in one word."""
    if cell.state is not CellState.VALID:
        return cell.state.value.upper()
    for status in (Status.FAIL, Status.PASS):
        enforced = [item for item in outcomes if item.status is status and not item.recorded]
        if enforced:
            return status_word(enforced[0], rehearsal)
    for status in (Status.FAIL, Status.PASS):
        recorded = [item for item in outcomes if item.status is status]
        if recorded:
            return status_word(recorded[0], rehearsal)
    return "RECORD"


def counts(result: RunResult) -> str:
    """How many of the written specs were judged."""
    text = f"specs: {result.specs_written} written, {result.specs_evaluated} evaluated"
    text += f", {result.specs_skipped} skipped"
    unjudged = result.specs_written - result.specs_evaluated - result.specs_skipped
    if unjudged:
        text += f", {unjudged} not judged"
    if result.specs_vacuous:
        text += f"; {result.specs_vacuous} of them cannot fail"
    return text
