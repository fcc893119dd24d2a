"""Results of checks, with a verdict for each spec that the plan binds to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from atomcfg.plan import Spec

from .context import RunContext
from .gate import judge_all, unjudged
from .results import BlockResult, Status

__all__ = ["block_of", "error_block"]


def block_of(
    run: RunContext,
    block: str,
    name: str,
    specs: Sequence[Spec],
    values: Mapping[str, float],
    missing: Mapping[str, str],
    invalid: str = "",
) -> BlockResult:
    """A check that was answered. `invalid` is why its numbers do not count."""
    lines = run.plan.provenance.lines_of(name)
    verdicts = judge_all(name, specs, values, missing, lines, invalid)
    failed = any(verdict.status is Status.FAIL and not verdict.recorded for verdict in verdicts)
    status = "invalid" if invalid else "failed" if failed else "ok"
    return BlockResult(block, name, status, invalid, 0.0, values, (), verdicts)


def error_block(run: RunContext, block: str, name: str, specs: Sequence[Spec], reason: str) -> BlockResult:
    """A check that could not be carried out."""
    lines = run.plan.provenance.lines_of(name)
    return BlockResult(block, name, "error", reason, 0.0, {}, (), unjudged(name, specs, lines, reason))
