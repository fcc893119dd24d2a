"""Leaves every node as it was: jobs ended, containers of ours removed, secrets and lock gone."""

from __future__ import annotations

from collections.abc import Iterator

from atomrun.containers import container_name, look
from atomrun.context import NodeRun, RunContext
from atomrun.findings import Finding, verdict_of
from atomrun.host import HostError
from atomrun.outcomes import done, tell
from atomrun.results import StageResult, StageStatus
from atomrun.scripts import run_inside, run_on_host

__all__ = ["teardown"]

_GRACE_S = 10.0
_RELEASE_S = 180.0
_SHORT_S = 60.0


def teardown(run: RunContext) -> StageResult:
    """Runs on every way out. The node's agent does the work, so that a lease that runs out does the same. What
    remains is a finding."""
    held = [node for node in run.nodes if node.root]
    answers = run.ask(lambda node: tuple(_release(run, node)), held, ending=True)
    findings = [finding for node in held for finding in answers.values.get(node.rank, ())]
    for error in answers.failures.values():
        text = f"cannot be cleaned: {error.message}; its lease ends what runs there within {run.options.lease_s} s"
        hint = f"atomrun cleanup {run.run_id}"
        findings.append(Finding(error.node, "teardown", StageStatus.FAILED, text, hint))
    for node in run.nodes:
        if node.connection is not None:
            node.connection.close()
    tell(run, findings)
    return verdict_of("teardown", findings) if findings else done("teardown", f"{len(held)} nodes clean")


def _release(run: RunContext, node: NodeRun) -> Iterator[Finding]:
    container = run.plan.container if run.in_containers else None
    stays = container is not None and container.lifetime != "per_run"
    if stays and node.place is not None:
        _uninstall(run, node)
    for stopped in node.host.release(0.0 if run.interrupts.hurry else _GRACE_S, _RELEASE_S):
        if stopped.survivors:
            pids = ", ".join(map(str, stopped.survivors))
            text = f"processes of {stopped.name} survive: {pids}"
            yield Finding(node.name, "processes", StageStatus.FAILED, text, "the node may need a reboot")
    node.root = ""
    run_on_host(node, "forget_empty", [node.run_dir], _SHORT_S)
    if container is not None and not stays and node.runtime:
        name = container_name(run, node, container)
        seen = look(node, name)
        if seen.state != "absent" and (seen.state == "unknown" or seen.run == run.run_id):
            text = (
                f"the container {name} is still there" if not seen.why else f"{name} may still be there: {seen.why}"
            )
            hint = f"{' '.join(node.runtime)} rm -f {name}"
            yield Finding(node.name, "container", StageStatus.FAILED, text, hint)


def _uninstall(run: RunContext, node: NodeRun) -> None:
    try:
        run_inside(node, "uninstall", [node.inside.tools], _SHORT_S)
    except HostError as error:
        run.note(f"our files stay in the container on {node.name}: {error.message}")
