"""A run, from preflight to report: `STAGES` in order, and the loop that walks the plan with them."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from atomcfg.plan import Cell, Session

from .adopt import adopt
from .cells import incomplete_cell
from .context import CellRun, RunContext, SessionRun
from .findings import verdict_of
from .gate import failed_gates
from .identity import known_of
from .order import cells_of, sessions_of, worst_case
from .outcomes import add_cell, tell
from .perform import Stage, When, perform
from .results import CellState, RunResult, StageStatus
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
from .stages.recall import recall
from .stages.report import report
from .stages.start import start
from .stages.stop import stop
from .stages.teardown import teardown
from .watch import Watch

__all__ = ["STAGES", "Stage", "When", "check_only", "clean_up", "execute"]


STAGES: tuple[Stage, ...] = (
    Stage(preflight, When.LOOK),
    Stage(pull, When.LOOK),
    Stage(flags, When.LOOK),
    Stage(recall, When.RESUME),
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
        looks = (Stage(preflight, When.LOOK), Stage(flags, When.LOOK))
        return all(perform(run, stage).status is not StageStatus.FAILED for stage in looks)
    finally:
        perform(run, Stage(teardown, When.END))


def clean_up(run: RunContext) -> bool:
    """Take over what a run left on its nodes, tear it down, and say whether all of them are clean."""
    findings = adopt(run)
    tell(run, findings)
    reached = verdict_of("adopt", findings).status is not StageStatus.FAILED
    return perform(run, Stage(teardown, When.END)).status is StageStatus.OK and reached


class _Enough(Exception):
    """Something failed, and the user wants no more than that (`--fail-fast`)."""


def _walk(run: RunContext) -> None:
    if not _all_well(run, When.LOOK):
        return
    for node in run.nodes:
        run.journal.write("node", rank=node.rank, known=known_of(run, node))
    if run.past.launches and not _all_well(run, When.RESUME):
        return
    if not any(_left_to_do(run, session) for session in run.plan.sessions) or not _all_well(run, When.SETUP):
        return
    for number, session in enumerate(sessions_of(run.plan, run.wants, run.options.canary)):
        _session(run, session, first=number == 0)


def _all_well(run: RunContext, when: When) -> bool:
    return all(perform(run, stage).status is not StageStatus.FAILED for stage in _stages(when))


def _left_to_do(run: RunContext, session: Session) -> bool:
    checks = _checks(run, session)
    return any(run.wants(name) for name in (*session.cells, *(stage.name for stage in checks)))


def _checks(run: RunContext, session: Session) -> list[Stage]:
    return [stage for stage in _stages(When.CHECK) if run.plan.checks.session == session.index]


def _session(run: RunContext, session: Session, first: bool) -> None:
    """One session. A server that dies takes only the cell that it died in: another is started for the rest."""
    cells = deque(cells_of(run.plan, session, run.wants, run.options.canary))
    checks = _checks(run, session)
    adopted = run.record.adopted.get(session.index, 0)
    generation = adopted - 1 if adopted else run.past.generations.get(session.index, 0)
    while cells or any(run.wants(stage.name) for stage in checks):
        generation += 1
        opened = run.at(SessionRun(session, Watch(run.interrupts), generation, adopted=generation == adopted))
        first_time, first = first, False
        try:
            if not _open(opened, first_time):
                _give_up(opened, cells)
                break
            while cells and not opened.the_session.dead:
                _cell(opened, cells.popleft())
            if not cells and not opened.the_session.dead:
                done, checks = checks, []
                for stage in done:
                    perform(opened, stage)
        finally:
            _each_whatever_happens(opened, _stages(When.CLOSE))


def _open(run: RunContext, first: bool) -> bool:
    for stage in _stages(When.OPEN):
        if perform(run, stage).status is StageStatus.FAILED:
            return False
    for stage in _stages(When.FIRST) if first else ():
        perform(run, stage)
    return True


def _give_up(run: RunContext, cells: Sequence[Cell]) -> None:
    """The session has no server: its cells are incomplete."""
    reason = run.the_session.dead or "the session could not be opened"
    for cell in cells:
        add_cell(run, incomplete_cell(run.plan, cell, run.redactor.text(reason), "read the server's log"))
    if run.options.fail_fast:
        raise _Enough


def _cell(run: RunContext, cell: Cell) -> None:
    number = run.plan.cells.index(cell)
    at = run.at(run.session, CellRun(cell, number, _attempt(run, cell, number)))
    try:
        for stage in _stages(When.CELL):
            perform(at, stage)
    except Interrupted:
        add_cell(run, incomplete_cell(run.plan, cell, "interrupted"))
        raise
    result = run.record.cells[-1]
    if run.options.fail_fast and (result.state is not CellState.VALID or failed_gates(result.verdicts)):
        raise _Enough


def _attempt(run: RunContext, cell: Cell, number: int) -> int:
    """1, in a run that was never resumed. An attempt whose server is adopted, and that was not judged, goes on."""
    last = run.past.attempts.get(number, 0)
    goes_on = last and run.the_session.adopted and cell.id not in run.past.judged
    return last if goes_on else last + 1


def _stages(when: When) -> tuple[Stage, ...]:
    return tuple(stage for stage in STAGES if stage.when is when)


def _each_whatever_happens(run: RunContext, stages: Sequence[Stage]) -> None:
    if stages:
        try:
            perform(run, stages[0])
        finally:
            _each_whatever_happens(run, stages[1:])
