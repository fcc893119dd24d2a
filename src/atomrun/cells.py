"""One cell, from what its client left to its result: parse, measure, check, judge. Pure, so that judging stored
artifacts again gives what the live run gave."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from atomcfg.plan import Cell, Plan

from .artifacts import ArtifactError, Fault, parse
from .gate import judge_all, unjudged
from .measure import Measured, measure
from .results import CellResult, CellState
from .validity import Evidence, Flaw, check, unreadable

__all__ = ["Attempt", "incomplete_cell", "judge_cell"]


@frozen
class Attempt:
    """One finished run of a cell's client. `artifact` is the file's text, None without a file; `began` is as in
    `validity.Evidence`; `seconds` is the client's wall time by the node's clock; `polled` are the cell's
    measurements from elsewhere (`gpu.*`)."""

    number: int
    client_exit: int
    artifact: str | None
    began: str = ""
    seconds: float = 0.0
    polled: Mapping[str, float] = field(factory=dict)


def judge_cell(plan: Plan, cell: Cell, attempt: Attempt) -> CellResult:
    """The result of an attempt that ended, well or badly."""
    try:
        measured, flaws = _examine(plan, cell, attempt)
    except ArtifactError as error:
        flaws = unreadable(error, attempt.client_exit)
        measured = Measured(attempt.polled, dict.fromkeys((spec.metric for spec in cell.specs), error.message))
    reason = "; ".join(flaw.reason for flaw in flaws)
    lines = plan.provenance.lines_of(cell.id)
    return CellResult(
        id=cell.id,
        key=cell.key,
        session=cell.session,
        attempt=attempt.number,
        state=CellState.INVALID if flaws else CellState.VALID,
        reason=reason,
        hint=flaws[0].hint if flaws else "",
        seconds=attempt.seconds,
        values=measured.values,
        missing=measured.missing,
        verdicts=judge_all(cell.id, cell.specs, measured.values, measured.missing, lines, reason),
    )


def incomplete_cell(
    plan: Plan, cell: Cell, reason: str, hint: str = "", *, attempt: int = 0, seconds: float = 0.0
) -> CellResult:
    """The result of a cell that never ran, or never finished."""
    return CellResult(
        id=cell.id,
        key=cell.key,
        session=cell.session,
        attempt=attempt,
        state=CellState.INCOMPLETE,
        reason=reason,
        hint=hint,
        seconds=seconds,
        values={},
        missing={},
        verdicts=unjudged(cell.id, cell.specs, plan.provenance.lines_of(cell.id), reason),
    )


def _examine(plan: Plan, cell: Cell, attempt: Attempt) -> tuple[Measured, tuple[Flaw, ...]]:
    if attempt.artifact is None:
        raise ArtifactError(
            Fault.ABSENT,
            f"the client left no artifact {cell.artifact.name}",
            "read the client's log; its directory must be inside a mount that the node sees",
        )
    reading = parse(cell.artifact.format, attempt.artifact)
    measured = measure(reading, cell, plan)
    flaws = check(Evidence(cell, reading, measured.values, attempt.client_exit, attempt.began, plan.model.id))
    return measured._replace(values={**attempt.polled, **measured.values}), flaws
