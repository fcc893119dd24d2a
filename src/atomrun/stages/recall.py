"""What an earlier launch of this run finished is kept; what it left running is adopted, or ended."""

from __future__ import annotations

from collections.abc import Iterator

from atomrun.context import NodeRun, RunContext
from atomrun.host import Refused
from atomrun.identity import known_of
from atomrun.outcomes import done
from atomrun.results import StageResult
from atomrun.stored import StoredError, judge_stored

__all__ = ["recall"]

_GRACE_S = 5.0
_STAGES = ("functional", "accuracy", "long_context", "mtp_quality", "quant_parity")
_BEFORE = "done before the run was resumed"


def recall(run: RunContext) -> StageResult:
    """Finished cells are kept if machines and images are those of before; the plan is, by its digest.

    If only some nodes still hold the run, those let go of it too: a server runs on all its ranks or on none.
    """
    if any(node.adopted for node in run.nodes) and not run.adopts:
        run.ask(lambda node: _begin_anew(run, node)).all()
    if run.adopts:
        _adopt(run)
    changed = tuple(_changes(run))
    if changed:
        run.warn(f"the run was resumed, and all of it is measured anew: {'; '.join(changed)}")
    else:
        _keep(run)
    run.record.facts["launches"] = str(run.past.launches + 1)
    return done("recall", f"{len(run.record.kept)} parts kept, {len(run.record.adopted)} sessions adopted")


def _begin_anew(run: RunContext, node: NodeRun) -> None:
    node.host.release(_GRACE_S)
    node.root = node.host.acquire(run.run_id, run.owner, run.options.lease_s).root
    node.adopted = False


def _adopt(run: RunContext) -> None:
    """Sessions whose server lives on every rank go on; every other job of before is ended."""
    for node in run.nodes:
        used = run.past.nodes.get(node.rank, {}).get("vram_used", "")
        node.vram_used = int(used) if used.isdecimal() else None
    for index in sorted(run.past.open):
        name = f"server-{index}.{run.past.generations[index]}"
        if not any(run.ask(lambda node, job=name: _has_ended(node, job)).all().values()):  # type: ignore[misc]  # mypy cannot infer a lambda with a default
            run.record.adopted[index] = run.past.generations[index]
    if not run.record.adopted:
        for name in reversed(run.past.jobs):
            run.ask(lambda node, job=name: _end(node, job)).all()  # type: ignore[misc]  # mypy cannot infer a lambda with a default


def _has_ended(node: NodeRun, job: str) -> bool:
    try:
        return node.host.wait([job], 0.0) is not None
    except Refused:
        return False  # not started there yet


def _end(node: NodeRun, job: str) -> None:
    try:
        node.host.stop(job, _GRACE_S)
    except Refused:
        return  # it never began on this node


def _changes(run: RunContext) -> Iterator[str]:
    for node in run.nodes:
        before, now = run.past.nodes.get(node.rank, {}), known_of(run, node)
        for name in ("machine", "image"):
            if before and before.get(name) != now[name]:
                yield f"{node.name} has another {name} ({before.get(name)}, now {now[name]})"


def _keep(run: RunContext) -> None:
    kept = []
    for cell in run.plan.cells:
        attempt = run.past.cells.get(cell.id)
        if attempt is None:
            continue
        try:
            result = judge_stored(run.folder.path, run.plan, cell, attempt)
        except StoredError as error:
            run.warn(f"{cell.id} is measured again: {error}")
            continue
        run.record.cells.append(result)
        run.record.kept[cell.id] = _BEFORE
        kept.append(cell.id)
    for stage in run.past.stages & set(_STAGES):
        run.record.kept[stage] = _BEFORE
    for block in run.past.blocks:
        if block.block in run.record.kept or block.block == "gpu_metrics":
            run.record.blocks.append(block)
    if 0 < len(kept) < len(run.plan.cells):
        run.warn(f"a mixed run: {', '.join(kept)} measured before the run was resumed, the rest after")
