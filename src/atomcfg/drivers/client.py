"""The flags that the benchmark clients have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from atomcfg.defaults import PARAMS
from atomcfg.model import Settings
from atomcfg.tokens import Hole, Token, bind, template

from .base import ClientRequest
from .flags import Given
from .layout import Option, option

__all__ = [
    "cell_option",
    "check_requests",
    "goodput_options",
    "ineffective",
    "param_option",
    "percentile_option",
    "seed_option",
    "stem",
]


def param_option(settings: Settings, name: str) -> Option:
    """`--dataset-name random`: the client's flag is called as the parameter is."""
    return option(f"--{name.replace('_', '-')}", str(getattr(settings.params, name)), origins=[("params", name)])


def cell_option(request: ClientRequest, flag: str, value: Token) -> Option:
    """A flag whose value belongs to the cell."""
    return option(flag, value, origins=[request.place])


def seed_option(request: ClientRequest) -> Option:
    return option("--seed", request.seed, origins=[("params", "seed")])


def percentile_option(request: ClientRequest) -> Option:
    return option("--metric-percentiles", request.percentiles, origins=[("params", "metric_percentiles")])


def goodput_options(request: ClientRequest) -> tuple[Option, ...]:
    """`--goodput ttft:200 tpot:50`, limits in ms; nothing without limits."""
    limits = [f"{name}:{limit:g}" for name, limit in request.goodput]
    return (option("--goodput", *limits, origins=[request.place]),) if limits else ()


def check_requests(settings: Settings, given: Sequence[Given]) -> tuple[ClientRequest, ...]:
    """Requests as far as they are known before the plan is made: no folder, percentiles as stated.

    They show every value that a flag of `given` could contradict, each in the first cell that has it.
    """
    params, folder = settings.params, template(bind(Hole.RUN_DIR))
    seen: set[tuple[int, object]] = set()
    chosen = []
    for run in settings.runs if given else settings.runs[:1]:
        combo = run.combo
        values: set[tuple[int, object]] = {*enumerate((combo.isl, combo.osl, run.concurrency, combo.goodput_slo))}
        if not values <= seen:
            seen |= values
            chosen.append(ClientRequest.of(run, params.seed, params.metric_percentiles, folder))
    return tuple(chosen)


def stem(settings: Settings) -> str:
    """`params.result_filename` without a suffix: the driver adds its own."""
    return settings.params.result_filename.removesuffix(".jsonl").removesuffix(".json")


def ineffective(settings: Settings, reasons: Mapping[str, str]) -> Mapping[str, str]:
    """Of the parameters that reach nothing, those whose value the client would not use anyway."""
    return {name: why for name, why in reasons.items() if getattr(settings.params, name) != PARAMS[name][1]}
