"""A run's stored artifacts judged again, offline: the same artifacts and bounds give the live run's verdicts."""

from __future__ import annotations

from pathlib import Path

from attrs import evolve

from atomcfg.plan import Cell, Plan

from .account import specs_of
from .conclude import Run, conclude
from .gate import judge_all, unjudged
from .results import BlockResult, CellResult, CellState, RunResult, RunVerdict, Status
from .stored import StoredError, judge_stored

__all__ = ["RejudgeError", "rejudge"]


# A check of these states has values. "invalid" and "unsupported" may have: its verdicts tell.
_ANSWERED = ("ok", "failed", "invalid", "unsupported")


class RejudgeError(Exception):
    """What the run left is not there any more."""


def rejudge(folder: Path, result: RunResult, plan: Plan) -> RunResult:
    """The result of the run in `folder`, by the bounds of `plan`: its own, or others bound to it.

    Cells are judged from their artifacts, checks from the values that they found.
    """
    cells = {cell.id: cell for cell in plan.cells}
    again = tuple(_cell(folder, plan, cells[old.id], old) for old in result.cells if old.id in cells)
    skipped = {block.block: block.reason for block in result.blocks if block.status == "skipped"}
    left_out = {cell.id: cell.reason for cell in again if cell.reason.startswith("left out")}
    run = Run(
        run_id=result.run_id,
        transport=result.transport,
        started_at=result.started_at,
        seconds=result.seconds,
        cells=again,
        blocks=tuple(_block(plan, block) for block in result.blocks),
        stages=result.stages,
        interrupted=result.verdict is RunVerdict.INTERRUPTED,
        deselected={**skipped, **left_out},
        facts=result.facts,
        warnings=result.warnings,
    )
    return evolve(conclude(plan, run), warnings=result.warnings)


def _cell(folder: Path, plan: Plan, cell: Cell, old: CellResult) -> CellResult:
    """The cell from its stored attempt; one that never finished stays as it was, with the specs of now."""
    if old.state is CellState.INCOMPLETE:
        lines = plan.provenance.lines_of(cell.id)
        return evolve(old, verdicts=unjudged(cell.id, cell.specs, lines, old.reason))
    try:
        return evolve(judge_stored(folder, plan, cell, old.attempt), hint=old.hint)
    except StoredError as error:
        raise RejudgeError(str(error)) from None


def _block(plan: Plan, block: BlockResult) -> BlockResult:
    """A check from the values that it found; what could not be carried out, or does not count, stays so."""
    specs = specs_of(plan, block)
    if not specs and not block.verdicts:
        return block
    counts = all(verdict.status is not Status.INVALID for verdict in block.verdicts) and block.status in _ANSWERED
    missing = {verdict.metric: verdict.reason for verdict in block.verdicts if verdict.status is Status.SKIPPED}
    lines = plan.provenance.lines_of(block.id)
    invalid = "" if counts else block.reason or block.status
    verdicts = judge_all(block.id, specs, block.values, missing, lines, invalid)
    if block.status not in ("ok", "failed"):
        return evolve(block, verdicts=verdicts)
    failed = any(verdict.status is Status.FAIL and not verdict.recorded for verdict in verdicts)
    return evolve(block, verdicts=verdicts, status="failed" if failed else "ok")
