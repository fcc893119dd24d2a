"""A plan as people read it: nodes, sessions, cells, gates, checks, estimate."""

from __future__ import annotations

from collections.abc import Iterator

from atomcfg.plan import Cell, Checks, EnvVar, Plan, Session
from atomcfg.shell import quoted
from atomcfg.suggest import counted
from atomcfg.tokens import Token, fill

__all__ = ["draw"]


def draw(plan: Plan, commands: bool = False) -> str:
    """Plain text. With `commands`, the shell text of every server and client command."""
    lines = [*_head(plan), ""]
    cells = {cell.id: cell for cell in plan.cells}
    for session in plan.sessions:
        lines += [*_session(session, [cells[name] for name in session.cells], commands), ""]
    lines += [*_checks(plan.checks), *_foot(plan)]
    return "\n".join(lines)


def _row(name: str, text: str) -> str:
    return f"{name:<11}{text}"


def _head(plan: Plan) -> Iterator[str]:
    gating = "gates enforced" if plan.enforce_thresholds else "record-only"
    chosen = plan.provenance.profile_chosen_by
    yield _row("plan", f"{plan.stem}, profile {plan.profile} ({chosen}), {gating}")
    yield _row("model", f"{plan.model.id}{f' ({plan.model.precision})' if plan.model.precision else ''}")
    topology = plan.topology
    data = f" x DP {topology.data_parallel}" if topology.data_parallel > 1 else ""
    sizes = f"TP {topology.tensor_parallelism} x PP {topology.pipeline_parallel_size}{data} = {topology.gpus} GPUs"
    yield _row("driver", f"{plan.driver} on {plan.gpu_arch}, {sizes}")
    for node in plan.nodes:
        reach = "" if node.cluster_address == node.address else f" (others use {node.cluster_address})"
        role = "head" if node.rank == 0 else f"rank {node.rank}"
        yield _row("nodes" if node.rank == 0 else "", f"{role}: {node.user}@{node.address}{reach}")
    if plan.container is not None:
        container = plan.container
        yield _row("container", f"{container.image} ({container.runtime}, {container.lifetime})")
    else:
        yield _row("container", "none: baremetal")
    yield _row("runs below", plan.paths.run_root)


def _session(session: Session, cells: list[Cell], commands: bool) -> Iterator[str]:
    count = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
    yield f"session {session.index}: {count}, server ready within {_time(session.ready_deadline_s)}"
    launches = session.ranks if commands else session.ranks[:1]
    for launch in launches:
        who = "server" if launch.rank == 0 else f"rank {launch.rank}"
        yield f"  {who}  {_command(launch.argv, launch.env, commands)}"
    width = max((len(cell.id) for cell in cells), default=4)
    keys = max((len(cell.key) for cell in cells), default=3)
    yield f"  {'cell':<{width}}  {'key':<{keys}}  {'prompts':>7}  {'seed':>4}  gates"
    for cell in cells:
        yield f"  {cell.id:<{width}}  {cell.key:<{keys}}  {cell.num_prompts:>7}  {cell.seed:>4}  {_gates(cell)}"
        if commands:
            yield f"    client  {_command(cell.argv, cell.env, commands)}"


def _gates(cell: Cell) -> str:
    if not cell.specs:
        return "none: recorded"
    enforced = sum(spec.enforced for spec in cell.specs)
    vacuous = sum(spec.vacuous for spec in cell.specs)
    shown = f"{enforced} enforced of {len(cell.specs)}" if enforced else f"{len(cell.specs)} recorded"
    return shown + (f", {vacuous} cannot fail" if vacuous else "")


def _command(argv: tuple[Token, ...], env: tuple[EnvVar, ...], full: bool) -> str:
    words = [fill(token, unknown=lambda name: f"<{name}>") for token in argv]
    if not full:
        return quoted(words)
    shown = [
        f"{entry.name}={'***' if entry.value is None else quoted([fill(entry.value, unknown=lambda n: f'<{n}>')])}"
        for entry in env
    ]
    return " ".join([*shown, quoted(words)])


def _checks(checks: Checks) -> Iterator[str]:
    on = [
        ("api smoke", checks.api_smoke),
        ("health", checks.health_check),
        ("dmesg scan", checks.dmesg_scan),
        ("GPU metrics", checks.gpu_metrics_poll),
        ("MTP quality", checks.mtp_quality is not None),
        ("quant parity", checks.quant_parity is not None),
    ]
    names = [name for name, enabled in on if enabled]
    yield _row("checks", ", ".join(names) or "none")
    if checks.accuracy:
        yield _row("accuracy", ", ".join(task.id for task in checks.accuracy))
    if checks.long_context:
        yield _row("needles", ", ".join(cell.id for cell in checks.long_context))


def _foot(plan: Plan) -> Iterator[str]:
    estimate = plan.estimate
    starts = "1 server start" if estimate.server_starts == 1 else f"{estimate.server_starts} server starts"
    used = f"{starts}, {_time(estimate.bound_s)}, {estimate.gpu_hours:g} GPU-hours"
    yield _row("at most", f"{used} (if every budget is used up)")
    yield _row("digest", plan.digest)
    if plan.unresolved:
        yield _row("still open", f"{counted(plan.unresolved, 'value')} for a lab to supply before this can run")


def _time(seconds: int) -> str:
    hours, rest = divmod(seconds, 3600)
    minutes, left = divmod(rest, 60)
    parts = [(hours, "h"), (minutes, "min"), (left, "s")]
    return " ".join(f"{value} {unit}" for value, unit in parts if value) or "0 s"
