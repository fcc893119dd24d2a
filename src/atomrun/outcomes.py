"""Short ways to say how a stage came out, and to show what it found."""

from __future__ import annotations

from collections.abc import Iterable

import cattrs
from attrs import evolve

from .context import RunContext
from .events import Event, EventKind
from .findings import Finding
from .results import BlockResult, CellResult, StageResult, StageStatus

__all__ = ["add_block", "add_cell", "done", "failed", "skipped", "tell"]


def done(stage: str, reason: str = "", *, cell: str = "") -> StageResult:
    return StageResult(stage, StageStatus.OK, reason, cell=cell)


def skipped(stage: str, reason: str) -> StageResult:
    return StageResult(stage, StageStatus.SKIPPED, reason)


def failed(stage: str, reason: str, hint: str = "", *, node: str = "", cell: str = "") -> StageResult:
    return StageResult(stage, StageStatus.FAILED, reason, hint, node=node, cell=cell)


def tell(run: RunContext, findings: Iterable[Finding]) -> None:
    """Show findings to who watches, and keep them in the journal."""
    for item in findings:
        data = {"node": item.node, "hint": item.hint}
        run.emit(Event(EventKind.FINDING, item.check, item.status.value, item.text, data))
        run.journal.write("finding", node=item.node, check=item.check, status=item.status.value, text=item.text)


_CONVERTER = cattrs.Converter()
_SHOWN = ("output_throughput", "mean_ttft_ms", "mean_tpot_ms")


def add_cell(run: RunContext, cell: CellResult) -> None:
    """Keep a cell's result, in the record and in the journal, and show it."""
    run.record.cells.append(cell)
    run.journal.write("cell", id=cell.id, attempt=cell.attempt, state=cell.state.value, reason=cell.reason)
    data = {name: cell.values[name] for name in _SHOWN if name in cell.values}
    run.emit(Event(EventKind.CELL, cell.id, cell.state.value, cell.reason, data))


def add_block(run: RunContext, block: BlockResult) -> None:
    """Keep a check's result, in the record and in the journal, and show it. What servers said is redacted."""
    clean = run.redactor.text
    block = evolve(block, reason=clean(block.reason), details=tuple(map(clean, block.details)))
    run.record.blocks.append(block)
    run.journal.write("block", result=_CONVERTER.unstructure(block))
    run.emit(Event(EventKind.BLOCK, f"{block.block} {block.id}", block.status, block.reason))
