"""The run as a whole: the worst of its parts. Nothing judged is no verdict, never a pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from attrs import field, frozen

from atomcfg.plan import Plan

from .account import account_blocks, account_cells, specs_written
from .gate import failed_gates, verdicts_of
from .resultio import SCHEMA_VERSION
from .results import (
    BlockResult,
    CellResult,
    CellState,
    RunResult,
    RunVerdict,
    StageResult,
    StageStatus,
    Status,
    Verdict,
)

__all__ = ["Run", "conclude"]

_WORST_FIRST = (
    RunVerdict.INTERRUPTED,
    RunVerdict.INFRASTRUCTURE,
    RunVerdict.FAIL,
    RunVerdict.NO_VERDICT,
    RunVerdict.RECORDED,
    RunVerdict.PASS,
)
_NAMED = 3  # failed gates of one cell that its reason names
_EVALUATED = (Status.PASS, Status.FAIL, Status.INFO)

Part = tuple[RunVerdict, str]


@frozen
class Run:
    """What an execution collected. `deselected` names cells and blocks that were left out on purpose, with why
    (`--cell`, `--skip`, `--fail-fast`); they do not weigh on the verdict. A stage is FAILED only if it could not
    do its work: what a check *found* is in its `BlockResult`, what befell a cell in its `CellResult`."""

    run_id: str
    transport: str
    started_at: str
    seconds: float
    cells: tuple[CellResult, ...]
    blocks: tuple[BlockResult, ...]
    stages: tuple[StageResult, ...]
    interrupted: bool = False
    deselected: Mapping[str, str] = field(factory=dict)
    facts: Mapping[str, str] = field(factory=dict)
    warnings: tuple[str, ...] = ()


def conclude(plan: Plan, run: Run) -> RunResult:
    """The result of a run: every item of the plan accounted for, counted and judged."""
    cells = account_cells(plan, run.cells, run.deselected)
    blocks = account_blocks(plan, run.blocks, run.deselected)
    verdicts = verdicts_of(cells, blocks)
    verdict, reasons = _weigh([*_faults(plan, run, cells, blocks)], _base(plan, cells, blocks, verdicts))
    return RunResult(
        schema_version=SCHEMA_VERSION,
        run_id=run.run_id,
        plan_digest=plan.digest,
        stem=plan.stem,
        profile=plan.profile,
        driver=plan.driver,
        gpu_arch=plan.gpu_arch,
        transport=run.transport,
        enforce_thresholds=plan.enforce_thresholds,
        verdict=verdict,
        reasons=reasons,
        started_at=run.started_at,
        seconds=run.seconds,
        specs_written=specs_written(plan),
        specs_evaluated=sum(item.status in _EVALUATED for item in verdicts),
        specs_skipped=sum(item.status is Status.SKIPPED for item in verdicts),
        specs_vacuous=sum(item.vacuous for item in verdicts),
        cells=cells,
        blocks=blocks,
        stages=run.stages,
        facts=run.facts,
        warnings=(*run.warnings, *_left_out(plan, run.deselected)),
    )


def _weigh(faults: list[Part], base: Part) -> tuple[RunVerdict, tuple[str, ...]]:
    """The worst verdict, and the reasons, worst first. `base` is what the run is worth without its faults."""
    ordered = sorted([*faults, base], key=lambda part: _WORST_FIRST.index(part[0]))
    worst = ordered[0][0]
    told = [part for part in ordered if part[1] and (part[0] is worst or part is not base)]
    return worst, tuple(dict.fromkeys(reason for _, reason in told))


def _faults(plan: Plan, run: Run, cells: Iterable[CellResult], blocks: Iterable[BlockResult]) -> Iterator[Part]:
    if run.interrupted:
        yield RunVerdict.INTERRUPTED, "interrupted"
    lost = {cell.id for cell in cells if cell.state is not CellState.VALID}
    for stage in run.stages:
        # A stage that failed on a cell shows in that cell, unless the cell came out valid all the same.
        if stage.status is StageStatus.FAILED and stage.cell not in lost:
            where = f" on {stage.node}" if stage.node else ""
            yield RunVerdict.INFRASTRUCTURE, f"{stage.stage}{where}: {stage.reason}"
    for cell in cells:
        left_out = cell.state is CellState.INCOMPLETE and cell.id in run.deselected
        if not left_out:
            yield from _cell_parts(plan, cell)
    for block in blocks:
        yield from _block_parts(plan, block)


def _cell_parts(plan: Plan, cell: CellResult) -> Iterator[Part]:
    if cell.state is CellState.INCOMPLETE:
        yield RunVerdict.INFRASTRUCTURE, f"{cell.id} is incomplete: {cell.reason}"
    elif cell.state is CellState.INVALID:
        verdict = RunVerdict.FAIL if plan.enforce_thresholds else RunVerdict.INFRASTRUCTURE
        yield verdict, f"{cell.id} is invalid: {cell.reason}"
    elif plan.enforce_thresholds and not any(map(_decides, cell.verdicts)):
        yield RunVerdict.NO_VERDICT, f"{cell.id}: nothing was judged"
    yield from _gate_parts(cell.id, cell.verdicts)


def _block_parts(plan: Plan, block: BlockResult) -> Iterator[Part]:
    name = block.block if block.id == block.block else f"{block.block} {block.id}"
    reason = f"{name}: {block.reason}" if block.reason else f"{name}: {block.status}"
    enforced = any(not verdict.recorded for verdict in block.verdicts)
    if block.status == "error":
        yield RunVerdict.INFRASTRUCTURE, reason
    elif block.status == "invalid":
        yield (RunVerdict.FAIL if enforced else RunVerdict.INFRASTRUCTURE), reason
    elif block.status in ("unsupported", "not_scanned"):
        if plan.enforce_thresholds:
            yield RunVerdict.NO_VERDICT, reason
    elif block.status == "failed" and not block.verdicts:
        yield RunVerdict.FAIL, reason
    yield from _gate_parts(name, block.verdicts)


def _gate_parts(name: str, verdicts: Iterable[Verdict]) -> Iterator[Part]:
    failed = failed_gates(verdicts)
    if failed:
        more = f"; and {len(failed) - _NAMED} more" if len(failed) > _NAMED else ""
        yield RunVerdict.FAIL, f"{name}: {'; '.join(failed[:_NAMED])}{more}"


def _base(
    plan: Plan, cells: Iterable[CellResult], blocks: Iterable[BlockResult], verdicts: Iterable[Verdict]
) -> Part:
    """What the run is worth if nothing went wrong."""
    if plan.enforce_thresholds:
        if any(map(_decides, verdicts)):
            return RunVerdict.PASS, ""
        return RunVerdict.NO_VERDICT, "no enforced spec was judged"
    measured = any(cell.state is CellState.VALID for cell in cells) or any(block.values for block in blocks)
    return (RunVerdict.RECORDED, "") if measured else (RunVerdict.NO_VERDICT, "nothing was measured")


def _decides(verdict: Verdict) -> bool:
    return verdict.status in (Status.PASS, Status.FAIL) and not verdict.recorded


def _left_out(plan: Plan, deselected: Mapping[str, str]) -> tuple[str, ...]:
    cells = sum(cell.id in deselected for cell in plan.cells)
    return (f"{cells} of {len(plan.cells)} cells were left out on purpose",) if cells else ()
