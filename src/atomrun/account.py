"""The plan lists everything that must have a result; what has none gets one here, so that absence is a result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import evolve, frozen

from atomcfg.plan import Plan, Spec

from .cells import incomplete_cell
from .gate import unjudged
from .results import BlockResult, CellResult

__all__ = ["account_blocks", "account_cells", "specs_of", "specs_written"]

_NEVER = "never ran"


@frozen
class _Expected:
    """A check that the plan asks for. Blocks that come once per node or probe are matched by `block` alone."""

    block: str
    id: str
    specs: tuple[Spec, ...]
    by_id: bool = False

    def matches(self, found: BlockResult) -> bool:
        return found.block == self.block and (not self.by_id or found.id == self.id)


def account_cells(plan: Plan, found: Iterable[CellResult], deselected: Mapping[str, str]) -> tuple[CellResult, ...]:
    """One result per cell of the plan, in its order. `deselected` gives the reason of cells left out on purpose."""
    by_id = {cell.id: cell for cell in found}
    return tuple(
        by_id.get(cell.id) or incomplete_cell(plan, cell, deselected.get(cell.id, _NEVER)) for cell in plan.cells
    )


def account_blocks(
    plan: Plan, found: Iterable[BlockResult], deselected: Mapping[str, str]
) -> tuple[BlockResult, ...]:
    """The results of all checks that the plan asks for, each with a verdict for each of its specs."""
    lines = dict(plan.provenance.spec_lines)
    expected = _expected(plan)
    results = []
    for block in found:
        of_plan = next((item for item in expected if item.matches(block)), None)
        if of_plan is not None and of_plan.specs and not block.verdicts:
            block = evolve(block, verdicts=unjudged(of_plan.id, of_plan.specs, lines, block.reason or block.status))
        results.append(block)
    for item in expected:
        if not any(item.matches(block) for block in results):
            results.append(_absent(item, lines, deselected.get(item.block)))
    return tuple(results)


def specs_of(plan: Plan, block: BlockResult) -> tuple[Spec, ...]:
    """The specs that the plan binds to a check."""
    return next((item.specs for item in _expected(plan) if item.matches(block)), ())


def specs_written(plan: Plan) -> int:
    """How many specs the plan binds, to cells and to checks."""
    return sum(len(cell.specs) for cell in plan.cells) + sum(len(item.specs) for item in _expected(plan))


def _absent(item: _Expected, lines: Mapping[str, str], deselected: str | None) -> BlockResult:
    reason = deselected or _NEVER
    return BlockResult(
        block=item.block,
        id=item.id,
        status="error" if deselected is None else "skipped",
        reason=reason,
        seconds=0.0,
        values={},
        details=(),
        verdicts=unjudged(item.id, item.specs, lines, reason),
    )


def _expected(plan: Plan) -> tuple[_Expected, ...]:
    checks = plan.checks
    found = [
        _Expected(block, block, ())
        for block, asked in (
            ("functional", checks.api_smoke or checks.health_check),
            ("dmesg", checks.dmesg_scan),
            ("gpu_metrics", checks.gpu_metrics_poll),
        )
        if asked
    ]
    found += [_Expected("accuracy", task.id, task.specs, by_id=True) for task in checks.accuracy]
    found += [_Expected("long_context", cell.id, cell.specs, by_id=True) for cell in checks.long_context]
    if checks.mtp_quality is not None:
        found.append(_Expected("mtp_quality", "mtp_quality", checks.mtp_quality.specs))
    if checks.quant_parity is not None:
        found.append(_Expected("quant_parity", "quant_parity", checks.quant_parity.specs))
    return tuple(found)
