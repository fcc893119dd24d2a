"""lm-eval against the live server, one task after another; one that errors does not stop its siblings."""

from __future__ import annotations

from attrs import evolve

from atomcfg.plan import AccuracyTask
from atomcfg.tokens import fill, fill_all
from atomrun.artifacts import ArtifactError, lm_eval
from atomrun.attend import Attended, attend, how_it_ended, log_text
from atomrun.blocks import block_of, error_block
from atomrun.context import RunContext
from atomrun.firsterror import first_error
from atomrun.jobs import Task, command, environment
from atomrun.outcomes import add_block, done, skipped
from atomrun.results import BlockResult, StageResult
from atomrun.scripts import run_inside

__all__ = ["accuracy"]

_INSTALL_S = 1800
_LOOK_S = 120.0
_READ_S = 120.0
_INSTALLED = "import importlib.metadata as m, sys; import lm_eval; sys.exit(m.version('lm-eval') != sys.argv[1])"


def accuracy(run: RunContext) -> StageResult:
    """lm-eval is installed at the plan's version unless it is there; `--no-install` refuses instead."""
    tasks = run.plan.checks.accuracy
    if not tasks:
        return skipped("accuracy", "not asked for")
    fault, hint = _provide(run)
    for number, task in enumerate(tasks):
        fault = fault or run.the_session.dead
        if fault:
            add_block(
                run, error_block(run, "accuracy", task.id, task.specs, f"{fault} ({hint})" if hint else fault)
            )
        else:
            add_block(run, _evaluate(run, number, task))
    return done("accuracy", f"{len(tasks)} tasks")


def _provide(run: RunContext) -> tuple[str, str]:
    """Why there is no lm-eval of the plan's version, and what to try; ("", "") if there is."""
    place, checks = run.head.inside, run.plan.checks
    if run.transport == "rehearsal":
        return "", ""
    wanted = command(place, (place.python, "-c", _INSTALLED, checks.lm_eval_version))
    if run.head.host.run(wanted, timeout=_LOOK_S).code == 0:
        return "", ""
    words = " ".join(checks.lm_eval_install)
    if not run.options.install:
        return f"lm-eval {checks.lm_eval_version} is not installed", f"in the container: {words}"
    run.note(f"installing lm-eval {checks.lm_eval_version}")
    name = f"install-{run.the_session.session.index}.{run.the_session.generation}"
    found = attend(run, Task(name, checks.lm_eval_install, _INSTALL_S))
    fault = _fault(run, name, found)
    return (f"lm-eval cannot be installed: {fault}", words) if fault else ("", "")


def _fault(run: RunContext, job: str, found: Attended) -> str:
    if found.exit is None:
        return found.trouble
    if found.exit.code == 0:
        return ""
    cause = first_error(log_text(run.head, job))
    return f"ended with {how_it_ended(found.exit)}" + (f": {cause}" if cause else "")


def _evaluate(run: RunContext, number: int, task: AccuracyTask) -> BlockResult:
    values = run.bound(run.head, run.the_session.generation)
    env, secrets = environment(task.env, values, run.secrets)
    name = f"accuracy-{number}.{run.the_session.generation}"
    directory = fill(task.output_dir, values)
    work = Task(name, fill_all(task.argv, values), task.deadline_s, env, secrets, fresh=directory)
    found = attend(run, work)
    seconds = found.exit.seconds if found.exit else 0.0
    run.folder.keep_log(f"{name}.log", log_text(run.head, name).encode("utf-8", "replace"))
    fault = _fault(run, name, found)
    if fault:
        return error_block(run, "accuracy", task.id, task.specs, fault)
    read = run_inside(run.head, "newest", [directory, "results_*.json"], _READ_S)
    if read.code != 0:
        return error_block(run, "accuracy", task.id, task.specs, "lm-eval left no results file")
    run.folder.keep(f"artifacts/accuracy/{name}.json", read.out)
    return evolve(_judge(run, task, read.out.decode("utf-8", "replace")), seconds=seconds)


def _judge(run: RunContext, task: AccuracyTask, text: str) -> BlockResult:
    try:
        scores = lm_eval.parse(text)
    except ArtifactError as error:
        return error_block(run, "accuracy", task.id, task.specs, error.message)
    details = [f"{name}: {used} of {all_} samples" for name, (used, all_) in scores.samples.items()]
    details += [f"{name} dropped: {why}" for name, why in scores.dropped.items()]
    if scores.lm_eval_version != run.plan.checks.lm_eval_version:
        details.append(f"lm-eval {scores.lm_eval_version}, the plan names {run.plan.checks.lm_eval_version}")
    doubt = lm_eval.implausible(scores)
    block = block_of(run, "accuracy", task.id, task.specs, scores.values, scores.dropped, doubt)
    return evolve(block, details=tuple(details))
