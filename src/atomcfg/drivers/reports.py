"""What the clients report: the percentiles to ask for, and the metrics that then come back."""

from __future__ import annotations

import re
from collections.abc import Iterable

from atomcfg.model import Settings

__all__ = ["asked_percentiles", "latency_of", "names", "reports"]

_LATENCY = re.compile(r"(?:mean|median|std|p\d+)_(ttft|tpot|itl|e2el)_ms")

# Numbers that are computed from these latencies.
_DERIVED = {"normalized_ttft_ms_per_tok": "ttft", "decode_latency_ratio": "itl", "decode_throughput_p50": "tpot"}


def names(text: str) -> tuple[str, ...]:
    """The members of a comma list."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def asked_percentiles(settings: Settings, gated: Iterable[str]) -> str:
    """The percentiles to ask for, as a comma list: those stated, those gated, and 99.

    ATOM's client ends with an error after its run when 99 is not among them. The stated text is kept when
    it covers all.
    """
    stated = names(settings.params.metric_percentiles)
    missing = {*gated, "99"} - set(stated)
    return ",".join(sorted({*stated, *missing}, key=float)) if missing else settings.params.metric_percentiles


def latency_of(metric: str) -> str | None:
    """The latency that a metric is made of: ttft, tpot, itl or e2el; None for all others."""
    match = _LATENCY.fullmatch(metric)
    return match[1] if match else _DERIVED.get(metric)


def reports(settings: Settings, metric: str) -> bool:
    """Does a client of the vLLM family (ATOM's is one) report `metric`?

    Percentiles follow `asked_percentiles`, so only the choice of latencies and the goodput limits can miss.
    What the client has no part in (`gpu.`, `mtp.`, a task's score) is never missed here.
    """
    latency = latency_of(metric)
    if latency is not None:
        return latency in names(settings.params.percentile_metrics)
    return metric != "goodput" or any(run.combo.goodput_slo for run in settings.runs)
