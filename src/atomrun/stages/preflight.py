"""Everything that must hold before a node is used, looked up on all nodes at once and shown in one table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from atomcfg.plan import Plan
from atomcfg.tokens import Token, fill
from atomrun.containers import on_host_network
from atomrun.context import NodeRun, RunContext
from atomrun.findings import Finding, verdict_of
from atomrun.host import HostError
from atomrun.outcomes import tell
from atomrun.results import StageResult, StageStatus
from atomrun.scripts import pairs, run_on_host

__all__ = ["preflight"]

_SCRIPT_S = 120.0
_OFFSET_MS = 2000.0
_LITTLE_KB, _TOO_LITTLE_KB = 1 << 20, 64 << 10
_IDLE_BYTES = 2 << 30  # what a driver keeps for itself is well below
_OK, _WARNING, _FAILED = StageStatus.OK, StageStatus.WARNING, StageStatus.FAILED


def preflight(run: RunContext) -> StageResult:
    """Connect, take each node's lock, and check tools, image, mounts, devices, disk, ports and clock.

    Findings of the launcher (`Record.findings`: its token file, say) belong to the table too. Image digests are
    recorded, and must be equal.
    """
    answers = run.ask(lambda node: tuple(_inspect(run, node)))
    findings = list(run.record.findings)
    for node in run.nodes:
        if node.rank in answers.failures:
            findings.append(_unreachable(node, answers.failures[node.rank]))
        else:
            findings += answers.values[node.rank]
    findings += _different_images(run)
    tell(run, findings)
    return verdict_of("preflight", findings)


def _unreachable(node: NodeRun, error: HostError) -> Finding:
    return Finding(node.name, error.reason, _FAILED, error.message, error.hint)


def _inspect(run: RunContext, node: NodeRun) -> Iterator[Finding]:
    node.connection = node.connect()
    facts = node.host.facts()
    node.machine = facts.get("machine") or facts.get("hostname", "")
    node.tools = frozenset(facts.get("tools", "").split())
    for name in ("hostname", "kernel", "boot_id"):
        run.record.facts[f"{name} {node.name}"] = facts.get(name, "")
    yield Finding(node.name, "reachable", _OK, f"{facts.get('hostname', '')} as {facts.get('user', '')}")
    yield from _clock(run, node, facts)
    takeover = run.options.takeover and run.past.launches > 0
    lease = node.host.acquire(run.run_id, run.owner, run.options.lease_s, takeover=takeover)
    node.root, node.adopted = lease.root, lease.adopted
    yield Finding(node.name, "lock", _OK, "held by this run" + (" since before" if lease.adopted else ""))
    args = _arguments(run, node)
    done = run_on_host(node, "preflight", args, _SCRIPT_S)
    yield from _judge(run, node, pairs(done.out))


def _clock(run: RunContext, node: NodeRun, facts: Mapping[str, str]) -> Iterator[Finding]:
    offset = facts.get("clock_offset_ms", "")
    run.record.facts[f"clock_offset_ms {node.name}"] = offset
    try:
        far = abs(float(offset)) > _OFFSET_MS
    except ValueError:
        return
    status = _WARNING if far else _OK
    yield Finding(
        node.name, "clock", status, f"{offset} ms from the launcher's", "start an NTP client" if far else ""
    )


def _arguments(run: RunContext, node: NodeRun) -> list[str]:
    plan = run.plan
    container = plan.container if run.in_containers else None
    on_host = container is None or on_host_network(container)
    ports = _ports(run, node) if on_host and not node.adopted else []
    paths: list[str] = []
    if container is not None:
        paths = [mount.source for mount in container.mounts]
        paths += [device.partition(":")[0] for device in container.devices]
    runtime, image = (container.runtime, container.image) if container is not None else ("", "")
    return [runtime, image, node.run_dir, " ".join(ports), *paths]


def _ports(run: RunContext, node: NodeRun) -> list[str]:
    if node.rank != 0:
        return []
    return sorted({fill(token, run.bound(node)) for token in _port_tokens(run.plan)})


def _port_tokens(plan: Plan) -> Iterable[Token]:
    yield from (session.probe.port for session in plan.sessions)
    if plan.fabric is not None:
        yield plan.fabric.master_port


def _judge(run: RunContext, node: NodeRun, told: Iterable[tuple[str, str]]) -> Iterator[Finding]:
    for key, value in told:
        if key == "runtime":
            node.runtime = tuple(value.split())
            yield Finding(node.name, "runtime", _OK, value)
        elif key == "vram":
            node.vram_used = int(value)
        elif key == "vram_fullest":
            yield _memory(node, int(value))
        elif key in ("gpu_arch", "gpu_driver", "rocm"):
            run.record.facts[f"{key} {node.name}"] = value
        elif key == "image":
            yield _image(run, node, value)
        elif key == "disk_kb":
            yield _disk(node, int(value))
        elif key in _FAULTS:
            text, hint = _FAULTS[key]
            yield Finding(node.name, key, _FAILED, text.format(value), hint.format(value))


_FAULTS = {
    "runtime_error": ("the container runtime cannot be used: {0}", "let the user run it, or allow sudo -n for it"),
    "image_error": ("images cannot be listed: {0}", "check the container runtime on the node"),
    "run_dir_error": ("the run's directory cannot be made: {0}", "make paths.log_dir writable for this user"),
    "missing": ("{0} does not exist", "correct the mounts and devices of the config, or make {0}"),
    "kill_user_processes": (
        "logind ends what {0} runs as soon as {0} is logged out (KillUserProcesses)",
        "loginctl enable-linger {0}",
    ),
    "port": ("port {0}", "stop it, or choose another port"),
}


def _image(run: RunContext, node: NodeRun, value: str) -> Finding:
    assert run.plan.container is not None
    name, runtime = run.plan.container.image, run.plan.container.runtime
    if value != "absent":
        run.record.facts[f"image {node.name}"] = value
        return Finding(node.name, "image", _OK, f"{name} is {value[:19]}")
    if run.options.pull != "never":
        return Finding(node.name, "image", _OK, f"{name} is absent and will be pulled")
    hint = f"{runtime} pull {name} on {node.name}, or give --pull missing"
    return Finding(node.name, "image", _FAILED, f"the image {name} is absent", hint)


def _memory(node: NodeRun, used: int) -> Finding:
    """A neighbour on the GPUs makes figures that nobody can repeat."""
    text = f"at most {used / (1 << 30):.1f} GiB in use on a GPU"
    if used <= _IDLE_BYTES:
        return Finding(node.name, "gpus", _OK, text)
    return Finding(node.name, "gpus", _WARNING, f"{text} before anything started", "who? amd-smi process")


def _disk(node: NodeRun, free_kb: int) -> Finding:
    text = f"{free_kb / (1 << 20):.1f} GiB free at {node.run_dir}"
    if free_kb < _TOO_LITTLE_KB:
        return Finding(node.name, "disk", _FAILED, f"only {text}", "free some space")
    return Finding(node.name, "disk", _WARNING if free_kb < _LITTLE_KB else _OK, text)


def _different_images(run: RunContext) -> Iterator[Finding]:
    digests = {node.name: run.record.facts.get(f"image {node.name}") for node in run.nodes}
    known = {digest for digest in digests.values() if digest}
    if len(known) > 1 and run.options.pull == "never":
        text = "the image differs between nodes: " + ", ".join(f"{name} has {digests[name]}" for name in digests)
        yield Finding("all", "image", _FAILED, text, "pull it again everywhere: --pull always")
