"""Pulls the image where that is asked for: a phase of its own, so that no container start waits for a registry."""

from __future__ import annotations

from atomrun.containers import last_line
from atomrun.context import NodeRun, RunContext
from atomrun.findings import Finding, verdict_of
from atomrun.host import JobSpec
from atomrun.labour import Work, work_on_all
from atomrun.outcomes import skipped, tell
from atomrun.results import StageResult, StageStatus

__all__ = ["pull"]

_DEADLINE_S = 4 * 3600
_INSPECT_S = 60.0


def pull(run: RunContext) -> StageResult:
    """`--pull missing` pulls where the image is absent, `always` everywhere. All digests must then be equal."""
    if not run.in_containers or run.options.pull == "never":
        return skipped("pull", "not asked for")
    wanted = [node for node in run.nodes if run.options.pull == "always" or not _digest(run, node)]
    if wanted:
        run.note(f"pulling {_image(run)} on {', '.join(node.name for node in wanted)}")
    answers = work_on_all(run, wanted, lambda node: _spec(run, node)).all()
    findings = [_finding(run, node, answers[node.rank]) for node in wanted]
    digests = {node.name: _digest(run, node) for node in run.nodes}
    if len(set(digests.values())) > 1 and all(item.status is StageStatus.OK for item in findings):
        text = "the image differs between nodes: " + ", ".join(
            f"{name} has {each}" for name, each in digests.items()
        )
        findings.append(Finding("all", "image", StageStatus.FAILED, text, "pull it everywhere: --pull always"))
    tell(run, findings)
    return verdict_of("pull", findings)


def _image(run: RunContext) -> str:
    assert run.plan.container is not None
    return run.plan.container.image


def _digest(run: RunContext, node: NodeRun) -> str:
    return run.record.facts.get(f"image {node.name}", "")


def _spec(run: RunContext, node: NodeRun) -> JobSpec:
    return JobSpec("pull", (*node.runtime, "pull", _image(run)), _DEADLINE_S)


def _finding(run: RunContext, node: NodeRun, work: Work) -> Finding:
    if work.trouble:
        text = f"the image {_image(run)} cannot be pulled ({work.trouble}): {work.why}"
        return Finding(
            node.name, "pull", StageStatus.FAILED, text, "check its name, and the login for its registry"
        )
    argv = [*node.runtime, "image", "inspect", "--format", "{{.Id}}", _image(run)]
    found = node.host.run(argv, timeout=_INSPECT_S)
    if found.code != 0:
        return Finding(node.name, "image", StageStatus.FAILED, f"after the pull: {last_line(found)}")
    digest = found.out.decode("utf-8", "replace").strip()
    run.record.facts[f"image {node.name}"] = digest
    return Finding(node.name, "image", StageStatus.OK, f"{_image(run)} is {digest[:19]}")
