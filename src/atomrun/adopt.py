"""Takes over the nodes of a run whose launcher is gone, so that they can be given back."""

from __future__ import annotations

from .context import NodeRun, RunContext
from .findings import Finding
from .host import Busy
from .results import StageStatus

__all__ = ["adopt"]


def adopt(run: RunContext) -> tuple[Finding, ...]:
    """Hold every node that can be reached and that no other run has taken since. A node that another run holds was
    cleaned when it was taken: nothing of this run is left there."""
    answers = run.ask(lambda node: _adopt(run, node))
    findings = [answers.values[rank] for rank in sorted(answers.values)]
    for error in answers.failures.values():
        findings.append(Finding(error.node, error.reason, StageStatus.FAILED, error.message, error.hint))
    return tuple(findings)


def _adopt(run: RunContext, node: NodeRun) -> Finding:
    node.connection = node.connect()
    try:
        lease = node.host.acquire(run.run_id, run.owner, run.options.lease_s, takeover=True)
    except Busy as busy:
        return Finding(node.name, "lock", StageStatus.OK, f"{busy.message}: nothing of this run is left")
    node.root = lease.root
    text = "was still held by this run" if lease.adopted else "was free"
    return Finding(node.name, "lock", StageStatus.OK, text)
