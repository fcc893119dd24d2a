"""A spec before its value: whether its kind fits its metric, and which values can do what it is for."""

from __future__ import annotations

import math
from collections.abc import Mapping

from attrs import field, frozen

from atomcfg.metrics import METRICS, Direction, Metric, Tier, find
from atomcfg.plan import Spec
from atomcfg.suggest import did_you_mean

__all__ = ["Fault", "Shape", "bare", "shape_of"]

_PREFIX = "client."
_TOO_LONG_MS = 1e6
_TOO_MANY = 1e9
_SHARES = ("ratio", "bool")
# Ratios of these pairs are at least 1 by definition: numerator, reference.
_ORDERED = ("median", "p90", "p95", "p99")

Fault = tuple[str, str, str, str] | None  # code, key of the spec, summary, hint


@frozen(eq=False, repr=False)
class Shape:
    """All of a spec but its value: the cells of a sweep have few shapes, and very many values.

    `fault` says why no such spec can be. A value is at most `most`; one of at most `low`, or at least `high`,
    bounds nothing, since no measurement can fail it (every metric with a direction is at least 0).
    """

    metric: Metric
    kind: str
    tolerance_pct: float | None
    reference: str | None
    tier: str
    enforced: bool
    fault: Fault
    most: float
    low: float
    high: float
    known: dict[float | None, Spec] = field(factory=dict, init=False)

    def spec(self, value: float | None) -> Spec:
        """The spec with a value that is not in `known` yet, where it is put: equal specs are one object."""
        made = self.known[value] = Spec(
            self.metric.name,
            self.kind,
            value,
            self.tolerance_pct,
            self.reference,
            self.metric.unit,
            self.tier,
            self.enforced,
            value is not None and not self.low < value < self.high,
        )
        return made

    def value_fault(self, value: float | None) -> Fault:
        """What is wrong with a value."""
        if value is None or value <= self.most:
            return None
        unit = self.metric.unit
        return "A816", "value", f"a {unit} is at most 1, the bound is {value:g}", "write 0.95 for 95 %"


def shape_of(metric: Metric, body: Mapping[str, object], enforce: bool, prompts: int | None) -> Shape:
    """The shape of a written spec. `prompts`: of its cell."""
    kind, tolerance, stated = str(body["kind"]), body.get("tolerance_pct"), body.get("reference")
    reference = None if stated is None else str(stated)
    low, high = _fallible(metric, kind, reference or "", prompts)
    return Shape(
        metric=metric,
        kind=kind,
        tolerance_pct=float(tolerance) if isinstance(tolerance, int | float) else None,
        reference=None if reference is None else bare(reference),
        tier=metric.tier.value,
        enforced=enforce and kind != "info" and metric.tier is not Tier.RECORD,
        fault=_kind_fits(metric, kind) or _reference_fits(metric, kind, reference or ""),
        most=1.0 if metric.unit in _SHARES and kind in ("min", "max", "within") else math.inf,
        low=low,
        high=high,
    )


def bare(name: str) -> str:
    """A metric's name without the prefix of older files."""
    return name.removeprefix(_PREFIX)


def _kind_fits(metric: Metric, kind: str) -> Fault:
    fault = ""
    if kind == "max_ms" and metric.unit != "ms":
        fault = f"max_ms bounds milliseconds, this is {metric.unit}"
    elif kind == "min_tok_s" and metric.unit != "tok/s":
        fault = f"min_tok_s bounds tok/s, this is {metric.unit}"
    elif kind in ("min", "min_tok_s") and metric.direction is Direction.LOWER:
        fault = "lower is better, so a lower bound gates nothing"
    elif kind in ("max", "max_ms") and metric.direction is Direction.HIGHER:
        fault = "higher is better, so an upper bound gates nothing"
    return ("A814", "kind", fault, f"use {_proposed_kind(metric)}") if fault else None


def _proposed_kind(metric: Metric) -> str:
    if metric.direction is Direction.LOWER:
        return '"max_ms"' if metric.unit == "ms" else '"max"'
    if metric.direction is Direction.HIGHER:
        return '"min_tok_s"' if metric.unit == "tok/s" else '"min"'
    return '"info": it is recorded only'


def _reference_fits(metric: Metric, kind: str, reference: str) -> Fault:
    if kind != "min_ratio":
        return None
    name = bare(reference)
    if find(name) is None:
        return "A817", "reference", f'unknown reference "{reference}"', did_you_mean(name, METRICS)
    if name == metric.name:
        return "A817", "reference", "the metric is its own reference", "name another metric"
    return None


def _fallible(metric: Metric, kind: str, reference: str, prompts: int | None) -> tuple[float, float]:
    """Between which values, both excluded, a bound can fail."""
    if kind in ("min", "min_tok_s"):
        return 0.0, math.inf
    if kind in ("max", "max_ms"):
        limit = _TOO_LONG_MS if metric.unit == "ms" else 1.0 if metric.unit in _SHARES else _TOO_MANY
        return -math.inf, min(limit, prompts) if metric.name == "failed" and prompts is not None else limit
    if kind == "min_ratio":
        return (1.0 if _at_least(metric.name, reference) else 0.0), math.inf
    return -math.inf, math.inf


def _at_least(name: str, reference: str) -> bool:
    """Whether `name` is at least `reference` by definition: a higher percentile, a total of its part."""
    if (name, reference) in (
        ("total_token_throughput", "output_throughput"),
        ("per_gpu_throughput", "output_tput_per_gpu"),
    ):
        return True
    high, _, what = name.partition("_")
    low, _, other = bare(reference).partition("_")
    return what == other and high in _ORDERED and low in _ORDERED and _ORDERED.index(high) >= _ORDERED.index(low)
