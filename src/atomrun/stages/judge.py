"""One cell to its result: valid or not, and a verdict for each of its specs."""

from __future__ import annotations

from attrs import evolve

from atomrun.cells import Attempt, incomplete_cell, judge_cell
from atomrun.context import CellRun, RunContext
from atomrun.firsterror import first_error
from atomrun.outcomes import add_cell, done
from atomrun.results import CellResult, CellState, StageResult

__all__ = ["judge"]


def judge(run: RunContext) -> StageResult:
    """The verdict is a pure function of what was collected (`atomrun.cells`)."""
    current = run.the_cell
    result = _result(run, current)
    add_cell(run, result)
    return done("judge", result.state.value, cell=result.id)


def _result(run: RunContext, current: CellRun) -> CellResult:
    if current.exit is None or current.exit.code is None:
        reason = current.trouble or "the client never ended"
        return incomplete_cell(run.plan, current.cell, reason, current.hint, attempt=current.attempt)
    attempt = Attempt(
        current.attempt,
        current.exit.code,
        current.artifact,
        current.began,
        current.exit.seconds,
        current.polled,
    )
    result = judge_cell(run.plan, current.cell, attempt)
    if result.state is CellState.VALID:
        return result
    cause = run.redactor.text(first_error(current.log))
    log = f"logs/{current.job}.err.log"
    return evolve(result, hint=f"{result.hint} ({log}: {cause})" if cause else f"{result.hint} ({log})")
