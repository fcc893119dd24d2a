"""Checks of the parameters that become client flags: what a client would only say after its run, or not at all."""

from __future__ import annotations

from collections.abc import Collection

from atomcfg.diagnostics import Diagnostics
from atomcfg.model import Settings

from .reports import names

__all__ = ["check_choice", "check_dataset", "check_percentiles", "check_range_ratio"]

_LATENCIES = ("ttft", "tpot", "itl", "e2el")


def check_choice(settings: Settings, name: str, allowed: Collection[str], who: str, found: Diagnostics) -> None:
    """A parameter whose every possible value is known."""
    value = getattr(settings.params, name)
    if value not in allowed:
        span = settings.document.span(("params", name))
        found.error("A510", f"{who} does not take {name} {value}", span, f"one of {', '.join(allowed)}")


def check_dataset(settings: Settings, shaped: Collection[str], found: Diagnostics) -> None:
    """Only some datasets follow the cells' lengths."""
    value = settings.params.dataset_name
    if value not in shaped:
        span = settings.document.span(("params", "dataset_name"))
        hint = f"ISL and OSL of the cells shape {' and '.join(shaped)} only"
        found.warning("A511", f"requests of dataset {value} do not have the cells' lengths", span, hint)


def check_percentiles(settings: Settings, required: Collection[str], found: Diagnostics) -> None:
    """Latencies by name, percentiles above 0 and at most 100; `required` are the latencies it cannot do without."""
    params, document = settings.params, settings.document
    asked = names(params.percentile_metrics)
    span = document.span(("params", "percentile_metrics"))
    missing = [name for name in required if name not in asked]
    if missing:
        summary = f"percentile_metrics lacks {', '.join(missing)}, without which this client fails after its run"
        found.error("A512", summary, span, f'write "{",".join(_LATENCIES)}"')
    wrong = [text for text in names(params.metric_percentiles) if not 0 < float(text) <= 100]
    if wrong:
        span = document.span(("params", "metric_percentiles"))
        found.error("A514", f"{', '.join(wrong)} is no percentile", span, 'a comma list such as "90,95,99"')


def check_range_ratio(settings: Settings, found: Diagnostics) -> None:
    """vLLM's client samples around the length, and refuses a ratio of 1."""
    ratio = settings.params.random_range_ratio
    if float(ratio) >= 1:
        span = settings.document.span(("params", "random_range_ratio"))
        hint = "here lengths lie within L*(1-r) and L*(1+r); 0 is an exact length"
        found.error("A516", f"vLLM's client does not take random_range_ratio {ratio}", span, hint)
