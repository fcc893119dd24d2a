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
    id: str,  # noqa: A002 - the field's own name
    specs: Sequence[Spec],
    values: Mapping[str, float],
    missing: Mapping[str, str],
    invalid: str = "",
) -> BlockResult:
    """A check that was answered. `invalid` is why its numbers do not count."""
    lines = dict(run.plan.provenance.spec_lines)
    verdicts = judge_all(id, specs, values, missing, lines, invalid)
    failed = any(verdict.status is Status.FAIL and not verdict.recorded for verdict in verdicts)
    status = "invalid" if invalid else "failed" if failed else "ok"
    return BlockResult(block, id, status, invalid, 0.0, values, (), verdicts)


def error_block(run: RunContext, block: str, id: str, specs: Sequence[Spec], reason: str) -> BlockResult:  # noqa: A002
    """A check that could not be carried out."""
    lines = dict(run.plan.provenance.spec_lines)
    return BlockResult(block, id, "error", reason, 0.0, {}, (), unjudged(id, specs, lines, reason))
