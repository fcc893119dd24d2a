"""The weights are on every node, whole by their manifest; `model.remote` fetches them where they are not."""

from __future__ import annotations

from collections.abc import Sequence

from atomcfg.tokens import Hole
from atomrun.asking import look_around
from atomrun.context import NodeRun, RunContext
from atomrun.findings import Finding, verdict_of
from atomrun.host import JobSpec
from atomrun.jobs import Task, environment, job
from atomrun.labour import work_on_all
from atomrun.outcomes import tell
from atomrun.results import StageResult, StageStatus

__all__ = ["model"]

_DOWNLOAD_S = 12 * 3600
_DOWNLOAD = "import sys, huggingface_hub; print(huggingface_hub.snapshot_download(sys.argv[1]))"


def model(run: RunContext) -> StageResult:
    """Look at the weights where the programs see them; with `remote`, download and look again."""
    findings = [_inspect(run, node) for node in run.nodes]
    absent = [node for node, found in zip(run.nodes, findings, strict=True) if found.status is StageStatus.FAILED]
    if absent and run.plan.model.remote:
        run.note(f"downloading {run.plan.model.id} on {', '.join(node.name for node in absent)}")
        fetched = _fetch(run, absent)
        findings = [found for found in findings if found.status is StageStatus.OK] + fetched
    tell(run, findings)
    return verdict_of("model", findings)


def _inspect(run: RunContext, node: NodeRun) -> Finding:
    models_dir = run.values.get(Hole.MODELS_DIR.value, run.plan.paths.models_dir)
    found = look_around(node, "weights", {"models_dir": models_dir, "model": run.placed(run.plan.model.id)})
    if found["fault"]:
        hint = "set model.remote to 1 to download it, or correct paths.models_dir and its mount"
        return Finding(node.name, "model", StageStatus.FAILED, str(found["fault"]), hint)
    size = f"{int(found['bytes']) / 1e9:.1f} GB in {found['files']} files"
    return Finding(node.name, "model", StageStatus.OK, f"{run.plan.model.id}: {size}")


def _fetch(run: RunContext, nodes: Sequence[NodeRun]) -> list[Finding]:
    works = work_on_all(run, nodes, lambda node: _download(run, node)).all()
    findings = []
    for node in nodes:
        work = works[node.rank]
        if work.trouble:
            text = f"the download ended with {work.trouble}: {work.why}"
            hint = "check the token's access to the model, the network, and the free space"
            findings.append(Finding(node.name, "model", StageStatus.FAILED, text, hint))
        else:
            findings.append(_inspect(run, node))
    return findings


def _download(run: RunContext, node: NodeRun) -> JobSpec:
    """With the environment of the rank's server: it names the cache, and brings the token."""
    launch = run.plan.sessions[0].ranks[node.rank]
    env, secrets = environment(launch.env, run.bound(node), run.secrets)
    argv = (node.inside.python, "-c", _DOWNLOAD, run.plan.model.id)
    return job(node.inside, run.run_id, Task("download", argv, _DOWNLOAD_S, env, secrets))
