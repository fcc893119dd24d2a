"""One job on each of several nodes, side by side, when no server runs yet: pulling an image, fetching weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

from .attend import how_it_ended, log_text
from .context import NodeRun, RunContext
from .fanout import Answers
from .firsterror import first_error
from .host import Exit, HostError, JobSpec

__all__ = ["Work", "work_on_all"]


@frozen
class Work:
    """How one node's job ended. `trouble` is empty for exit status 0; `why` is the first error of its log."""

    exit: Exit | None
    trouble: str = ""
    why: str = ""


def work_on_all(run: RunContext, nodes: Sequence[NodeRun], spec_of: Callable[[NodeRun], JobSpec]) -> Answers[Work]:
    """Start each node's job and wait until all have ended. A signal raises `Interrupted`; teardown stops them."""
    return run.ask(lambda node: _work(node, spec_of(node)), nodes)


def _work(node: NodeRun, spec: JobSpec) -> Work:
    node.host.start(spec)
    ended = node.host.wait([spec.name], spec.deadline_s + 60.0)
    if ended is None:
        raise HostError(node.name, "timeout", f"the job {spec.name} outlived its deadline", "look at the node")
    if ended.state == "exited" and ended.code == 0:
        return Work(ended)
    text = log_text(node, spec.name)
    trouble = f"ran into its deadline of {spec.deadline_s} s" if ended.state == "deadline" else how_it_ended(ended)
    return Work(ended, trouble, first_error(text) or text.strip().rpartition("\n")[2])
