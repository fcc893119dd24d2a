"""What a check found on a node, and what findings amount to for their stage."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from .results import StageResult, StageStatus

__all__ = ["Finding", "verdict_of"]


@frozen
class Finding:
    """One line of a check's table. `hint` names the next thing to try."""

    node: str
    check: str
    status: StageStatus
    text: str
    hint: str = ""


def verdict_of(stage: str, findings: Iterable[Finding]) -> StageResult:
    """The stage result that findings amount to: the first failed one decides; how many more there are is said."""
    found = tuple(findings)
    bad = [item for item in found if item.status is StageStatus.FAILED]
    if bad:
        more = f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
        return StageResult(stage, StageStatus.FAILED, f"{bad[0].text}{more}", bad[0].hint, node=bad[0].node)
    warned = dict.fromkeys(item.text for item in found if item.status is StageStatus.WARNING)
    if warned:
        return StageResult(stage, StageStatus.WARNING, "; ".join(warned))
    return StageResult(stage, StageStatus.OK)
