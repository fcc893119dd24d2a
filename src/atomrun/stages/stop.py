"""Ends a session's server everywhere, proves that it is gone, and keeps its logs."""

from __future__ import annotations

from collections.abc import Iterator

from atomcfg.tokens import fill
from atomrun.asking import look_around
from atomrun.context import NodeRun, RunContext
from atomrun.findings import Finding, verdict_of
from atomrun.host import HostError
from atomrun.jobs import record_of
from atomrun.outcomes import skipped, tell
from atomrun.poll import stop_poll
from atomrun.results import StageResult, StageStatus
from atomrun.vram import settled

__all__ = ["stop"]

_GRACE_S = 10.0
_CHUNK = 1 << 20
_LOG_BYTES = 64 << 20


def stop(run: RunContext) -> StageResult:
    """TERM, wait, KILL on the node; then proof: no process of the job, no listener on its ports, GPU memory back
    near its level before the run. A node that cannot be asked is a failed one."""
    session = run.the_session
    if not session.started:
        return skipped("stop", "nothing was started")
    stop_poll(run)
    answers = run.ask(lambda node: tuple(_stop(run, node)), ending=True)
    session.started = False
    findings = [finding for rank in sorted(answers.values) for finding in answers.values[rank]]
    findings += [
        Finding(error.node, "stop", StageStatus.FAILED, error.message, error.hint)
        for error in answers.failures.values()
    ]
    run.journal.end("server", name=session.job, clean=not findings)
    tell(run, findings)
    return verdict_of("stop", findings)


def _stop(run: RunContext, node: NodeRun) -> Iterator[Finding]:
    name = run.the_session.job
    left = node.host.stop(name, 0.0 if run.interrupts.hurry else _GRACE_S).survivors
    _keep_logs(run, node)
    if run.interrupts.hurry:
        return  # the teardown tells what is left
    ports = [int(fill(run.the_session.session.probe.port, run.bound(node)))] if node.rank == 0 else []
    order = {"job": f"{run.run_id}/{name}", "record": record_of(node.inside, name), "ports": ports}
    found = look_around(node, "gone", order)
    alive = sorted({*left, *found["pids"]})
    hint = "look at the node: a process that KILL does not end waits for a driver"
    if alive:
        pids = ", ".join(map(str, alive))
        yield Finding(node.name, "processes", StageStatus.FAILED, f"processes survive the stop: {pids}", hint)
    for port in found["ports"]:
        yield Finding(node.name, "port", StageStatus.FAILED, f"port {port} is still open after the stop", hint)
    if node.vram_used is not None:
        excess = settled(node, node.vram_used)
        if excess:
            text = f"{excess / (1 << 30):.1f} GiB of GPU memory are still held after the stop"
            yield Finding(node.name, "vram", StageStatus.FAILED, text, hint)


def _keep_logs(run: RunContext, node: NodeRun) -> None:
    name = run.the_session.job
    for stream in ("out", "err"):
        data = bytearray()
        try:
            while len(data) < _LOG_BYTES:
                piece = node.host.output(name, stream, len(data), _CHUNK)
                data += piece
                if len(piece) < _CHUNK:
                    break
        except HostError as error:
            run.note(f"the log of {name} on {node.name} is cut: {error.message}")
        run.folder.keep_log(f"{name}.rank-{node.rank}.{stream}.log", bytes(data))
