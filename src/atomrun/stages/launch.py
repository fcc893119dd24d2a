"""Containers up, our tools in them, secrets on the nodes."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve

from atomcfg.plan import Container
from atomcfg.tokens import fill_all
from atomrun.attend import log_text
from atomrun.containers import Seen, container_name, last_line, look, remover
from atomrun.context import NodeRun, RunContext
from atomrun.firsterror import tail
from atomrun.host import HostError, JobSpec
from atomrun.jobs import Place
from atomrun.kernel import marker
from atomrun.outcomes import done, failed
from atomrun.results import StageResult
from atomrun.scripts import probe_archive, run_inside, run_on_host

__all__ = ["launch"]

_START_S = 180
_INSTALL_S = 60.0
_GUARD, _UP = "container", "container-up"
_SECOND_CHANCE_S = 3600

# Containers that a start replaces, by lifetime and state: these must be ours.
_REPLACED = frozenset({("per_run", "running"), ("per_run", "stopped"), ("persistent", "stopped")})
_INSTALL_FAULTS = {
    3: ("cannot write to {tools}", "the programs need a writable /tmp"),
    4: ("cannot make {run_dir} where the programs run", "mount paths.log_dir into the container, writable"),
    5: ("there is no Python where the programs run", "the image must have python3"),
}


def launch(run: RunContext) -> StageResult:
    """Start (or attach to) each node's container as the plan's lifetime says, and prepare it."""
    started = 0
    if run.in_containers:
        container = run.plan.container
        assert container is not None
        seen = run.ask(lambda node: look(node, container_name(run, node, container))).all()
        refusal = _refusal(run, container, seen)
        if refusal is not None:
            return refusal
        attach = container.lifetime != "per_run" and seen[0].state == "running"
        started = 0 if attach else len(run.nodes)
        run.ask(lambda node: _contain(run, node, container, None if attach else seen[node.rank])).all()
    else:
        for node in run.nodes:
            node.place = Place(tools=f"{node.root}/tools")
    run.ask(lambda node: _prepare(run, node)).all()
    return done("launch", f"{started} containers started" if run.in_containers else "on the host")


def _refusal(run: RunContext, container: Container, seen: Mapping[int, Seen]) -> StageResult | None:
    """Why the containers that are there forbid to go on."""
    for node in run.nodes:
        reason = _foreign(run, container, seen[node.rank])
        if reason:
            name = container_name(run, node, container)
            hint = f"look at it with {container.runtime} inspect {name}, or choose another container.name"
            return failed("launch", f"the container {name} {reason}", hint, node=node.name)
    if container.lifetime == "per_run":
        return None
    running = [node.name for node in run.nodes if seen[node.rank].state == "running"]
    if container.lifetime == "no_launch" and len(running) < len(run.nodes):
        missing = ", ".join(node.name for node in run.nodes if node.name not in running)
        return failed("launch", f"no_launch: the container does not run on {missing}", "start it there")
    if running and len(running) < len(run.nodes):
        text = f"persistent: the container runs on {', '.join(running)} only"
        return failed("launch", text, "start it on all nodes, or stop it on all")
    return None


def _foreign(run: RunContext, container: Container, found: Seen) -> str:
    """Why the container that is there must be left alone, "" if it may be used or replaced."""
    if found.state == "unknown":
        return f"may or may not be there: {found.why}"
    if (container.lifetime, found.state) not in _REPLACED:
        return ""
    if not found.owner:
        return "exists and is not ours"
    ours = found.run == run.run_id if container.lifetime == "per_run" else found.owner == run.owner
    return "" if ours else f"belongs to run {found.run} of {found.owner}"


def _contain(run: RunContext, node: NodeRun, container: Container, found: Seen | None) -> None:
    """Start the node's container; `found` is what is there now, None if that is to be used."""
    name = container_name(run, node, container)
    if found is not None:
        if container.lifetime == "per_run":
            _guard(run, node, name)
        elif found.state == "stopped":
            node.host.run([*node.runtime, "rm", found.id], timeout=_START_S)
        _bring_up(run, node, container)
    node.place = Place(f"/tmp/atomrun-{run.run_id}", "python3", node.runtime, name)  # noqa: S108 - in the container


def _bring_up(run: RunContext, node: NodeRun, container: Container) -> None:
    """A job, so that it happens once, however often the launcher dies. What stays of the runtime beside the
    container is not the job's: it has not the job's marks."""
    unmarked = ("env", "-u", "ATOMRUN_JOB", "-u", "ATOMRUN_DIR")
    argv = (*unmarked, *node.runtime, *fill_all(container.run_argv, run.bound(node)))
    node.host.start(JobSpec(_UP, argv, _START_S))
    ended = node.host.wait([_UP], _START_S + _INSTALL_S)
    if ended is None or ended.code != 0:
        why = tail(log_text(node, _UP), 1) or "no word from the runtime"
        hint = f"{container.runtime} run on {node.name} says more"
        raise HostError(node.name, "tool", f"the container does not start: {why}", hint)


def _guard(run: RunContext, node: NodeRun, name: str) -> None:
    """A job that does nothing but own the container: whatever ends it (teardown, its deadline, a lease that ran out
    after the launcher died) removes the container. Started first, so there is no moment without it. Unless the node
    was held by this run until now, it also takes away what an earlier launch left."""
    if not node.adopted:
        cleared = node.host.run(remover(run, node, name), timeout=_START_S)
        if cleared.code != 0:
            raise HostError(
                node.name, "tool", f"the stale container {name} cannot be removed: {last_line(cleared)}"
            )
    deadline = run.plan.estimate.bound_s + _SECOND_CHANCE_S
    node.host.start(JobSpec(_GUARD, ("sleep", str(deadline)), deadline, stop_argv=remover(run, node, name)))


def _prepare(run: RunContext, node: NodeRun) -> None:
    place, run_dir = node.inside, run.bound(node)["run_dir"]
    found = run_inside(node, "install", [place.tools, run_dir], _INSTALL_S, probe_archive())
    if found.code != 0:
        text, hint = _INSTALL_FAULTS.get(found.code, (last_line(found), ""))
        raise HostError(node.name, "tool", text.format(tools=place.tools, run_dir=run_dir), hint)
    node.place = evolve(place, python=found.out.decode("utf-8", "replace").strip().splitlines()[-1])
    for secret in run.secrets.values():
        node.host.secret(secret.name, secret.reveal())
    if run.plan.checks.dmesg_scan and run.transport != "rehearsal":
        # Unwritable is no reason to stop: the scan then finds no mark and says "not scanned".
        run_on_host(node, "kernel_mark", [marker(run.run_id)], _INSTALL_S)
