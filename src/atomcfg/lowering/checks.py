"""The optional blocks, ready to run on one session."""

from __future__ import annotations

from attrs import frozen

from atomcfg.drivers.base import Driver, EnvEntry
from atomcfg.drivers.lm_eval import LM_EVAL_INSTALL, LM_EVAL_VERSION, lm_eval_argv
from atomcfg.model import AccuracyTaskSettings, Settings
from atomcfg.passes.states import Bound, BoundTable
from atomcfg.plan import AccuracyTask, Checks, MtpQuality, NeedleCell, QuantParity, Spec
from atomcfg.tokens import Hole, bind, template

from .commands import flatten, folder, merged_env
from .trace import Trace

__all__ = ["lower_checks"]

# No key of the language states a budget for a task; the longest shipped ones (mmlu_pro, bbh) take hours.
_TASK_BUDGET_S = 6 * 3600


@frozen(eq=False, repr=False)
class _Context:
    bound: Bound
    settings: Settings
    env: tuple[EnvEntry, ...]
    trace: Trace


def lower_checks(bound: Bound, settings: Settings, driver: Driver, session: int, trace: Trace) -> Checks:
    """All blocks. Needle cells that do not fit the context are left out (`expand` warned of them)."""
    context = _Context(bound, settings, merged_env(settings, driver.client_env(settings)), trace)
    limit = settings.params.max_model_length
    needles = [cell for cell in settings.long_context if cell.isl + cell.osl <= limit]
    return Checks(
        session=session,
        api_smoke=settings.api_smoke,
        health_check=settings.health_check,
        dmesg_scan=settings.dmesg_scan,
        gpu_metrics_poll=settings.gpu_metrics_poll,
        lm_eval_version=LM_EVAL_VERSION,
        lm_eval_install=LM_EVAL_INSTALL,
        accuracy=tuple(_task(context, index, task) for index, task in enumerate(settings.accuracy)),
        long_context=tuple(
            NeedleCell(
                id=cell.id,
                isl=cell.isl,
                osl=cell.osl,
                num_prompts=cell.num_prompts,
                seed=cell.seed,
                specs=_specs(context, cell.id, bound.long_context.get(cell.id)),
            )
            for cell in needles
        ),
        mtp_quality=_mtp(context, driver.speculative(settings)),
        quant_parity=_quant(context),
    )


def _specs(context: _Context, owner: str, table: BoundTable | None) -> tuple[Spec, ...]:
    specs = table.specs if table else ()
    context.trace.gates(owner, len(specs))
    return specs


def _task(context: _Context, index: int, task: AccuracyTaskSettings) -> AccuracyTask:
    directory = template(bind(Hole.RUN_DIR), f"/accuracy/{folder(task.id)}/", bind(Hole.ATTEMPT))
    argv = lm_eval_argv(context.settings, task, directory)
    context.trace.use(f"accuracy.tasks[{index}]", f"lm-eval argv of {task.id}")
    return AccuracyTask(
        id=task.id,
        task=task.task,
        argv=flatten(argv),
        env=tuple(entry.var for entry in context.env),
        output_dir=directory,
        deadline_s=_TASK_BUDGET_S,
        specs=_specs(context, task.id, context.bound.accuracy.get(task.id)),
    )


def _mtp(context: _Context, speculative: bool) -> MtpQuality | None:
    """On when asked for, and whenever the server's flags ask for speculative decoding."""
    settings = context.settings
    if not (settings.mtp_enabled or speculative):
        return None
    specs = _specs(context, "mtp_quality", context.bound.mtp_quality)
    return MtpQuality(settings.mtp_prompt, settings.mtp_expected_sha256, speculative, specs)


def _quant(context: _Context) -> QuantParity | None:
    settings = context.settings
    if not settings.quant_enabled:
        return None
    specs = _specs(context, "quant_parity", context.bound.quant_parity)
    return QuantParity(settings.quant_prompt, settings.quant_reference, specs)
