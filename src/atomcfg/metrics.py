"""The closed vocabulary of metrics: unit, direction, tier.

Names are bare (`mean_ttft_ms`). Families with a free part (lm-eval's `<task>.<metric>__<filter>`) are matched
by pattern. Sources: the shared reference, and CVS's 25 gated metrics.
"""

from __future__ import annotations

import re
from enum import StrEnum

from attrs import frozen

from .value import Value

__all__ = ["GATED", "KINDS", "METRICS", "Direction", "Metric", "Tier", "find"]

KINDS = ("min", "max", "max_ms", "min_tok_s", "within", "min_ratio", "info")


class Direction(StrEnum):
    HIGHER = "higher"
    LOWER = "lower"
    NEITHER = "neither"


class Tier(StrEnum):
    """A group of gates that passes or fails together. `RECORD` never fails."""

    THROUGHPUT = "throughput"
    TTFT = "ttft"
    TPOT = "tpot"
    LATENCY = "latency"
    HEALTH = "health"
    SCALING = "scaling"
    ACCURACY = "accuracy"
    RECORD = "record"


@frozen(eq=False, repr=False)
class Metric(Value):
    name: str
    unit: str
    direction: Direction
    tier: Tier


_UP, _DOWN, _FLAT = Direction.HIGHER, Direction.LOWER, Direction.NEITHER
_LATENCY_TIER = {"ttft": Tier.TTFT, "tpot": Tier.TPOT, "itl": Tier.LATENCY, "e2el": Tier.LATENCY}
_STATISTICS = ("mean", "median", "p90", "p95", "p99", "std")


def _latency() -> list[Metric]:
    return [
        Metric(f"{statistic}_{name}_ms", "ms", _DOWN, tier)
        for name, tier in _LATENCY_TIER.items()
        for statistic in _STATISTICS
    ]


_ALL = [
    *(
        Metric(name, "tok/s", _UP, Tier.THROUGHPUT)
        for name in (
            "total_token_throughput",
            "output_throughput",
            "per_gpu_throughput",
            "output_tput_per_gpu",
        )
    ),
    *(Metric(name, "req/s", _UP, Tier.THROUGHPUT) for name in ("request_throughput", "goodput")),
    *_latency(),
    Metric("success_rate", "ratio", _UP, Tier.HEALTH),
    Metric("failed", "count", _DOWN, Tier.HEALTH),
    Metric("completed", "count", _UP, Tier.HEALTH),
    Metric("scaling.efficiency_pct", "%", _UP, Tier.SCALING),
    Metric("duration", "s", _FLAT, Tier.RECORD),
    Metric("total_input_tokens", "tokens", _FLAT, Tier.RECORD),
    Metric("total_output_tokens", "tokens", _FLAT, Tier.RECORD),
    Metric("max_concurrency", "count", _FLAT, Tier.RECORD),
    Metric("normalized_ttft_ms_per_tok", "ms", _DOWN, Tier.RECORD),
    Metric("decode_latency_ratio", "x", _DOWN, Tier.RECORD),
    Metric("decode_throughput_p50", "tok/s", _UP, Tier.RECORD),
    Metric("max_output_tokens_per_s", "tok/s", _UP, Tier.RECORD),
    Metric("gpu.peak_gpu_memory_mb", "MB", _FLAT, Tier.RECORD),
    Metric("gpu.gpu_compute_util_pct", "%", _FLAT, Tier.RECORD),
    Metric("gpu.gpu_bandwidth_util_pct", "%", _FLAT, Tier.RECORD),
    Metric("gpu.power_w", "W", _FLAT, Tier.RECORD),
    Metric("gpu.model_load_s", "s", _DOWN, Tier.RECORD),
    Metric("gpu.model_load_memory_mb", "MB", _FLAT, Tier.RECORD),
    Metric("mtp.acceptance_rate", "ratio", _UP, Tier.ACCURACY),
    Metric("mtp.speculative_tokens_avg", "tokens", _UP, Tier.ACCURACY),
    Metric("mtp.empty_or_repeat_ratio", "ratio", _DOWN, Tier.ACCURACY),
    Metric("accuracy.chat_template_ok", "bool", _UP, Tier.ACCURACY),
    Metric("quant_parity.probe_match", "bool", _UP, Tier.ACCURACY),
]

METRICS: dict[str, Metric] = {metric.name: metric for metric in _ALL}

# CVS's GATED_METRICS. `std` and p90 ITL are not among them.
GATED: tuple[str, ...] = (
    "total_token_throughput", "output_throughput", "per_gpu_throughput", "output_tput_per_gpu",
    *(f"{s}_{m}_ms" for m in ("ttft", "tpot") for s in ("mean", "median", "p90", "p95", "p99")),
    *(f"{s}_itl_ms" for s in ("mean", "median", "p95", "p99")),
    *(f"{s}_e2el_ms" for s in ("mean", "median", "p90", "p95", "p99")),
    "success_rate", "failed",
)  # fmt: skip

_PATTERNS: tuple[tuple[str, str, Direction], ...] = (
    (r"accuracy\.niah_pass_rate__[A-Za-z0-9._-]+", "ratio", _UP),
    (r"[A-Za-z0-9][A-Za-z0-9._-]*\.[A-Za-z0-9_]+_stderr__[A-Za-z0-9_-]+", "score", _DOWN),
    (r"[A-Za-z0-9][A-Za-z0-9._-]*\.[A-Za-z0-9_]+__[A-Za-z0-9_-]+", "score", _UP),
)


def find(name: str) -> Metric | None:
    """The metric called `name`, fixed or by pattern; None if there is none."""
    known = METRICS.get(name)
    if known is not None:
        return known
    for pattern, unit, direction in _PATTERNS:
        if re.fullmatch(pattern, name):
            return Metric(name, unit, direction, Tier.ACCURACY)
    return None
