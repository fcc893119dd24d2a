"""Whether anything still happens: logs that grow, GPUs that work.

The limit on silence is apart from the budgets, which say how long something may take in all.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, field

from .context import NodeRun, RunContext
from .scripts import pairs, run_on_host

__all__ = ["LOOK_S", "Silence"]

LOOK_S = 60.0
"""How long to wait at most for the next look, in seconds: each is one short command a node."""

_SCRIPT_S = 30.0


@define
class Silence:
    """How long these jobs have been silent on all nodes, as seen at each `look`."""

    jobs: Sequence[str]
    seconds: float = 0.0
    _seen: dict[int, int] = field(factory=dict)  # bytes of the logs, by rank

    def look(self, run: RunContext, passed: float) -> float:
        """Count the `passed` seconds as silent unless a log grew, a GPU works, or a node does not tell."""
        answers = run.ask(lambda node: self._grew(node))
        active = bool(answers.failures) or any(answers.values.values())
        self.seconds = 0.0 if active else self.seconds + passed
        return self.seconds

    def _grew(self, node: NodeRun) -> bool:
        told = pairs(run_on_host(node, "activity", [f"{node.root}/jobs", *self.jobs], _SCRIPT_S).out)
        facts = {key: int(value) for key, value in told}
        before, self._seen[node.rank] = self._seen.get(node.rank, 0), facts.get("bytes", 0)
        return facts.get("bytes", 0) != before or facts.get("busy", 0) > 0
