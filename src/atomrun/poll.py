"""The GPU poll of a session: a job on every node that samples, and ends by itself at the latest at its deadline."""

from __future__ import annotations

from .context import NodeRun, RunContext
from .fanout import Answers
from .gpu import lately, parse_poll, summary
from .host import JobSpec
from .jobs import Place, Task, job
from .scripts import script

__all__ = ["poll_figures", "poll_job", "poll_output", "start_poll", "stop_poll"]

_INTERVAL_S = 10
_LIMIT_BYTES = 32 << 20
_CELL_BYTES = 8 << 20
_TOOLS = frozenset({"amd-smi", "rocm-smi"})


def poll_job(run: RunContext) -> str:
    return f"gpu-{run.the_session.session.index}.{run.the_session.generation}"


def start_poll(run: RunContext, seconds: int) -> None:
    """Start sampling, for `seconds` at most, if the plan asks for it. A poll that does not start is not worth the
    run: the block that reports it says so."""
    if run.plan.checks.gpu_metrics_poll:
        _noted(run, "start", run.ask(lambda node: node.host.start(_spec(run, node, seconds))))


def stop_poll(run: RunContext) -> None:
    if run.plan.checks.gpu_metrics_poll:
        _noted(run, "stop", run.ask(lambda node: node.host.stop(poll_job(run), 1.0), ending=True))


def poll_output(run: RunContext, node: NodeRun) -> str:
    """What the tool said so far."""
    return node.host.output(poll_job(run), "out", 0, _LIMIT_BYTES).decode("utf-8", "replace")


def poll_figures(run: RunContext, seconds: float) -> dict[str, float]:
    """The `gpu.*` metrics of the last `seconds` on all nodes, for a cell that has just ended. A node that does not
    answer is missing from them; the block of the poll says so."""
    if not run.plan.checks.gpu_metrics_poll:
        return {}
    answers = run.ask(lambda node: lately(parse_poll(_newest(run, node)), seconds))
    return summary(sample for samples in answers.values.values() for sample in samples)


def _newest(run: RunContext, node: NodeRun) -> str:
    return node.host.output(poll_job(run), "out", -_CELL_BYTES, _CELL_BYTES).decode("utf-8", "replace")


def _spec(run: RunContext, node: NodeRun, seconds: int) -> JobSpec:
    """On the host where it has a tool, else where the programs run."""
    numbers = [str(_INTERVAL_S), str(seconds), str(_LIMIT_BYTES)]
    place = Place(f"{node.root}/tools") if node.tools & _TOOLS else node.inside
    argv = ("sh", "-c", script("gpu_poll"), "gpu_poll", *numbers)
    return job(place, run.run_id, Task(poll_job(run), argv, seconds, grace_s=1))


def _noted(run: RunContext, verb: str, answers: Answers[object]) -> None:
    for error in answers.failures.values():
        run.note(f"cannot {verb} the GPU poll on {error.node}: {error.message}")
