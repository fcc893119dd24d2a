"""What the session's GPU poll saw on each node."""

from __future__ import annotations

from atomrun.context import NodeRun, RunContext
from atomrun.gpu import Sample, parse_poll, summary
from atomrun.outcomes import add_block, done, skipped
from atomrun.poll import poll_job, poll_output
from atomrun.results import BlockResult, StageResult

__all__ = ["gpu_metrics"]


def gpu_metrics(run: RunContext) -> StageResult:
    """One block a session: the highest memory of any GPU, means of the rest, and what loading the model took."""
    session = run.the_session
    if not run.plan.checks.gpu_metrics_poll:
        return skipped("gpu_metrics", "not asked for")
    if not session.started:
        return skipped("gpu_metrics", "nothing was started")
    answers = run.ask(lambda node: poll_output(run, node), ending=True)
    taken: dict[str, tuple[Sample, ...]] = {}
    details = [f"{error.node}: {error.message}" for error in answers.failures.values()]
    for node in run.nodes:
        text = answers.values.get(node.rank, "")
        run.folder.keep_log(f"{poll_job(run)}.rank-{node.rank}.log", text.encode("utf-8", "replace"))
        taken[node.name] = parse_poll(text)
        details += _per_gpu(node, taken[node.name])
    values = summary(sample for samples in taken.values() for sample in samples)
    values |= _load(run, taken[run.head.name])
    silent = [name for name, samples in taken.items() if not samples]
    status = "unsupported" if len(silent) == len(run.nodes) else "ok"
    reason = f"no sample from {', '.join(silent)}: neither amd-smi nor rocm-smi answers" if silent else ""
    add_block(
        run,
        BlockResult(
            "gpu_metrics", f"session-{session.session.index}", status, reason, 0.0, values, tuple(details), ()
        ),
    )
    return done("gpu_metrics", status)


def _per_gpu(node: NodeRun, samples: tuple[Sample, ...]) -> list[str]:
    lines = []
    for gpu in dict.fromkeys(sample.gpu for sample in samples):
        found = summary(sample for sample in samples if sample.gpu == gpu)
        shown = ", ".join(f"{name.removeprefix('gpu.')} {value:.0f}" for name, value in found.items())
        lines.append(f"{node.name} GPU {gpu}: {shown}")
    return lines


def _load(run: RunContext, samples: tuple[Sample, ...]) -> dict[str, float]:
    session = run.the_session
    if not session.served:
        return {}
    found = {"gpu.model_load_s": session.ready_s}
    memory = [sample for sample in samples if sample.memory_mb is not None]
    loaded = [sample.memory_mb or 0.0 for sample in memory if sample.uptime >= session.ready_uptime]
    before = [sample.memory_mb or 0.0 for sample in memory if sample.uptime == memory[0].uptime]
    if loaded and memory[0].uptime < session.ready_uptime:
        found["gpu.model_load_memory_mb"] = max(0.0, loaded[0] - max(before))
    return found
