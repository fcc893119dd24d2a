"""A reading and what the plan knows, to every metric of the vocabulary that one cell has."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from atomcfg.plan import Cell, Plan

from .results import Reading

__all__ = ["Measured", "measure"]


class Measured(NamedTuple):
    """Finite values by bare metric name, and why a metric that could be expected is not among them."""

    values: Mapping[str, float]
    missing: Mapping[str, str]


def measure(reading: Reading, cell: Cell, plan: Plan) -> Measured:
    """The metrics of a cell: what the client wrote and what follows from it.

    Per-GPU figures divide by the plan's GPU count (TP x PP x DP). A figure whose parts are missing, or whose
    divisor is zero, is missing itself.
    """
    values, missing = dict(reading.values), dict(reading.missing)
    for name, (value, reason) in _health(values, cell).items():
        _keep(values, missing, name, value, reason)
    for name, (over, under, factor) in _ratios(plan, cell).items():
        value, reason = _ratio(values, over, under, factor)
        _keep(values, missing, name, value, reason)
    return Measured(values, missing)


def _keep(values: dict[str, float], missing: dict[str, str], name: str, value: float | None, reason: str) -> None:
    if name in values:
        return
    if value is not None and math.isfinite(value):
        values[name] = value
    else:
        missing.setdefault(name, reason)


def _health(values: Mapping[str, float], cell: Cell) -> dict[str, tuple[float | None, str]]:
    """`failed` when the client does not write it, and `success_rate`, both against the *planned* prompts."""
    completed = values.get("completed")
    if completed is None:
        reason = '"completed" is missing'
        return {"failed": (None, reason), "success_rate": (None, reason)}
    if completed > cell.num_prompts:
        reason = f"{completed:g} completed of {cell.num_prompts} planned"
        return {"failed": (None, reason), "success_rate": (None, reason)}
    return {
        "failed": (cell.num_prompts - completed, ""),
        "success_rate": (completed / cell.num_prompts, ""),
    }


Part = str | float


def _ratios(plan: Plan, cell: Cell) -> dict[str, tuple[Part, Part, float]]:
    """Derived metrics as (numerator, denominator, factor); a name stands for that metric."""
    gpus = float(plan.topology.gpus)
    derived: dict[str, tuple[Part, Part, float]] = {
        "per_gpu_throughput": ("total_token_throughput", gpus, 1.0),
        "output_tput_per_gpu": ("output_throughput", gpus, 1.0),
        "normalized_ttft_ms_per_tok": ("mean_ttft_ms", float(cell.isl), 1.0),
        "decode_latency_ratio": ("p99_itl_ms", "median_itl_ms", 1.0),
        "decode_throughput_p50": (1.0, "median_tpot_ms", 1000.0),
    }
    if plan.scaling_baseline is not None:
        ideal = plan.scaling_baseline * plan.topology.nnodes
        derived["scaling.efficiency_pct"] = ("output_throughput", ideal, 100.0)
    return derived


def _ratio(values: Mapping[str, float], over: Part, under: Part, factor: float) -> tuple[float | None, str]:
    for part in (over, under):
        if isinstance(part, str) and part not in values:
            return None, f'"{part}" is missing'
    top = values[over] if isinstance(over, str) else over
    bottom = values[under] if isinstance(under, str) else under
    if bottom == 0:
        return None, "the divisor is 0"
    return factor * top / bottom, "out of range"
