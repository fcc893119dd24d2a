"""A run, from preflight to report: `STAGES` in order, and the loop that walks the plan with them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from enum import Enum

from attrs import evolve, frozen

from atomcfg.plan import Cell, Session

from .adopt import adopt
from .cells import incomplete_cell
from .context import CellRun, RunContext, SessionRun
from .events import Event, EventKind
from .findings import verdict_of
from .gate import failed_gates
from .host import HostError
from .order import cells_of, sessions_of, worst_case
from .outcomes import add_cell, failed, skipped, tell
from .results import CellState, RunResult, StageResult, StageStatus
from .signals import Interrupted
from .stages.accuracy import accuracy
from .stages.bench import bench
from .stages.collect import collect
from .stages.dmesg import dmesg
from .stages.fabric import fabric
from .stages.flags import flags
from .stages.functional import functional
from .stages.gpu_metrics import gpu_metrics
from .stages.judge import judge
from .stages.launch import launch
from .stages.long_context import long_context
from .stages.model import model
from .stages.mtp_quality import mtp_quality
from .stages.preflight import preflight
from .stages.pull import pull
from .stages.quant_parity import quant_parity
from .stages.ready import ready
from .stages.report import report
from .stages.start import start
from .stages.stop import stop
from .stages.teardown import teardown
from .watch import Watch

__all__ = ["STAGES", "Stage", "When", "check_only", "clean_up", "execute"]


class When(Enum):
    """Where in the run a stage has its place."""

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


STAGES: tuple[Stage, ...] = (
    Stage(preflight, When.SETUP),
    Stage(pull, When.SETUP),
    Stage(flags, When.SETUP),
    Stage(launch, When.SETUP),
    Stage(fabric, When.SETUP),
    Stage(model, When.SETUP),
    Stage(start, When.OPEN),
    Stage(ready, When.OPEN),
    Stage(functional, When.FIRST),
    Stage(bench, When.CELL),
    Stage(collect, When.CELL),
    Stage(judge, When.CELL),
    Stage(accuracy, When.CHECK),
    Stage(long_context, When.CHECK),
    Stage(mtp_quality, When.CHECK),
    Stage(quant_parity, When.CHECK),
    Stage(gpu_metrics, When.CLOSE),
    Stage(stop, When.CLOSE),
    Stage(dmesg, When.END),
    Stage(teardown, When.END),
    Stage(report, When.END),
)


def execute(run: RunContext) -> RunResult:
    """Walk the plan. The stages at the end run on every way out, a fault of ours included."""
    run.note(worst_case(run.plan))
    try:
        _walk(run)
    except Interrupted:
        run.note("interrupted: ending what runs; once more: without grace; a third time: leave it all behind")
        run.record.interrupted = True
    except _Enough:
        for cell in run.plan.cells:
            if cell.id not in {result.id for result in run.record.cells}:
                run.record.deselected.setdefault(cell.id, "left out after a failure (--fail-fast)")
    finally:
        _each_whatever_happens(run, _stages(When.END))
    assert run.record.result is not None
    return run.record.result


def check_only(run: RunContext) -> bool:
    """Look at the nodes, let go of them, and say whether a run could begin."""
    try:
        looks = (Stage(preflight, When.SETUP), Stage(flags, When.SETUP))
        return all(_perform(run, stage).status is not StageStatus.FAILED for stage in looks)
    finally:
        _perform(run, Stage(teardown, When.END))


def clean_up(run: RunContext) -> bool:
    """Take over what a run left on its nodes, tear it down, and say whether all of them are clean."""
    findings = adopt(run)
    tell(run, findings)
    reached = verdict_of("adopt", findings).status is not StageStatus.FAILED
    return _perform(run, Stage(teardown, When.END)).status is StageStatus.OK and reached


class _Enough(Exception):
    """Something failed, and the user wants no more than that (`--fail-fast`)."""


def _walk(run: RunContext) -> None:
    for stage in _stages(When.SETUP):
        if _perform(run, stage).status is StageStatus.FAILED:
            return
    for number, session in enumerate(sessions_of(run.plan, run.wants, run.options.canary)):
        _session(run, session, first=number == 0)


def _session(run: RunContext, session: Session, first: bool) -> None:
    """One session. A server that dies takes only the cell that it died in: another is started for the rest."""
    cells = deque(cells_of(run.plan, session, run.wants, run.options.canary))
    checks = [stage for stage in _stages(When.CHECK) if run.plan.checks.session == session.index]
    generation = 0
    while cells or any(run.wants(stage.name) for stage in checks):
        generation += 1
        opened = run.at(SessionRun(session, Watch(run.interrupts), generation))
        try:
            if not _open(opened, first=first and generation == 1):
                _give_up(opened, cells)
                break
            while cells and not opened.the_session.dead:
                _cell(opened, cells.popleft())
            if not cells and not opened.the_session.dead:
                done, checks = checks, []
                for stage in done:
                    _perform(opened, stage)
        finally:
            _each_whatever_happens(opened, _stages(When.CLOSE))


def _open(run: RunContext, first: bool) -> bool:
    for stage in _stages(When.OPEN):
        if _perform(run, stage).status is StageStatus.FAILED:
            return False
    for stage in _stages(When.FIRST) if first else ():
        _perform(run, stage)
    return True


def _give_up(run: RunContext, cells: Sequence[Cell]) -> None:
    """The session has no server: its cells are incomplete."""
    reason = run.the_session.dead or "the session could not be opened"
    for cell in cells:
        add_cell(run, incomplete_cell(run.plan, cell, run.redactor.text(reason), "read the server's log"))
    if run.options.fail_fast:
        raise _Enough


def _cell(run: RunContext, cell: Cell) -> None:
    at = run.at(run.session, CellRun(cell, run.plan.cells.index(cell)))
    try:
        for stage in _stages(When.CELL):
            _perform(at, stage)
    except Interrupted:
        add_cell(run, incomplete_cell(run.plan, cell, "interrupted"))
        raise
    result = run.record.cells[-1]
    if run.options.fail_fast and (result.state is not CellState.VALID or failed_gates(result.verdicts)):
        raise _Enough


def _stages(when: When) -> tuple[Stage, ...]:
    return tuple(stage for stage in STAGES if stage.when is when)


def _each_whatever_happens(run: RunContext, stages: Sequence[Stage]) -> None:
    if stages:
        try:
            _perform(run, stages[0])
        finally:
            _each_whatever_happens(run, stages[1:])


def _perform(run: RunContext, stage: Stage) -> StageResult:
    """One stage: its intent and outcome in the journal, its duration, and node failures turned into a result."""
    where = {
        "session": run.session.session.index if run.session else None,
        "cell": run.cell.cell.id if run.cell else None,
    }
    began = run.now()
    run.journal.begin(stage.name, **where)
    run.emit(Event(EventKind.STAGE, stage.name, "running", data=where))
    try:
        result = stage.run(run) if run.wants(stage.name) else skipped(stage.name, run.record.deselected[stage.name])
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


def _node_failure(run: RunContext, stage: Stage, error: HostError) -> StageResult:
    if run.cell is not None:
        run.cell.exit, run.cell.trouble, run.cell.hint = None, str(error), error.hint
    return failed(stage.name, error.message, error.hint, node=error.node, cell=run.cell.cell.id if run.cell else "")
