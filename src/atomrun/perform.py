"""One stage of a run: when it has its place, and how it is carried out."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from attrs import evolve, frozen

from .context import RunContext
from .events import Event, EventKind
from .host import HostError
from .outcomes import failed, skipped
from .results import StageResult
from .signals import Interrupted

__all__ = ["Stage", "When", "perform"]


class When(Enum):
    """Where in the run a stage has its place."""

    LOOK = "once, before anything starts; a failure ends the run"
    RESUME = "once, after that, in a run that an earlier launch began"
    SETUP = "once, before the sessions; a failure ends the run"
    OPEN = "at the start of each session; a failure ends the session"
    FIRST = "in the first session, before its cells"
    CELL = "for each cell"
    CHECK = "after the cells of the session that the plan names"
    CLOSE = "at the end of each session, whatever happened in it"
    END = "once, at the end, whatever happened"


@frozen
class Stage:
    run: Callable[[RunContext], StageResult]
    when: When

    @property
    def name(self) -> str:
        return self.run.__name__


def perform(run: RunContext, stage: Stage) -> StageResult:
    """One stage: its intent and outcome in the journal, its duration, and node failures turned into a result."""
    where = {
        "session": run.session.session.index if run.session else None,
        "cell": run.cell.cell.id if run.cell else None,
    }
    if stage.when not in (When.CLOSE, When.END):
        run.interrupts.check()
    began = run.now()
    run.journal.begin(stage.name, **where)
    run.emit(Event(EventKind.STAGE, stage.name, "running", data=where))
    try:
        result = stage.run(run) if run.wants(stage.name) else skipped(stage.name, _why_not(run, stage.name))
    except HostError as error:
        result = _node_failure(run, stage, error)
    except Interrupted:
        run.journal.end(stage.name, status="interrupted", **where)
        raise
    seconds = run.now() - began
    result = evolve(
        result,
        reason=run.redactor.text(result.reason),
        hint=run.redactor.text(result.hint),
        started=began,
        seconds=seconds,
    )
    run.record.stages.append(result)
    run.journal.end(stage.name, status=result.status.value, reason=result.reason, **where)
    shown = {**where, "seconds": round(seconds, 3), "hint": result.hint, "node": result.node}
    run.emit(Event(EventKind.STAGE, stage.name, result.status.value, result.reason, shown))
    return result


def _why_not(run: RunContext, name: str) -> str:
    return run.record.deselected.get(name) or run.record.kept[name]


def _node_failure(run: RunContext, stage: Stage, error: HostError) -> StageResult:
    if run.cell is not None:
        run.cell.exit, run.cell.trouble, run.cell.hint = None, str(error), error.hint
    return failed(stage.name, error.message, error.hint, node=error.node, cell=run.cell.cell.id if run.cell else "")
