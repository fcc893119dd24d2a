"""From repeated measurements to bounds: the worst that was seen, a margin beyond, rounded outward."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence

from attrs import frozen

from atomcfg.metrics import GATED, Direction, Metric, Tier, find
from atomcfg.plan import Cell
from atomrun.tails import needed, thin_tail

from .intake import Measured

__all__ = ["ENOUGH", "Bound", "bounds_of"]

ENOUGH = 5
"""Runs that show a spread."""

_DIGITS = 4


@frozen
class Bound:
    """One bound and what it rests on. `owner` is a cell key, or the id of an accuracy task or needle cell (`block`
    names which). `value` is None where nothing can be bounded: it is then stated as info, and `note` says why.

    `sigma` is the standard deviation over the runs, None of a single one; `room` how many of it lie between the
    mean and the bound.
    """

    block: str
    owner: str
    metric: str
    kind: str
    value: float | None
    mean: float
    sigma: float | None
    room: float | None
    note: str = ""


def bounds_of(runs: Sequence[Measured], margin_pct: float) -> tuple[Bound, ...]:
    """A bound for each gated metric of each cell, and each score, that every run measured."""
    return (*_cell_bounds(runs, margin_pct), *_score_bounds(runs, margin_pct))


def _cell_bounds(runs: Sequence[Measured], margin_pct: float) -> Iterator[Bound]:
    plan = runs[0].plan
    measured = [{cell.id: cell.values for cell in run.result.cells} for run in runs]
    names = (*GATED, *(("scaling.efficiency_pct",) if plan.scaling_baseline is not None else ()))
    for cell in plan.cells:
        for name in names:
            seen = [values[cell.id][name] for values in measured if name in values[cell.id]]
            metric = find(name)
            if metric is None or len(seen) != len(runs):
                continue
            if metric.tier is Tier.HEALTH:
                yield _allowed(cell, metric)
            else:
                yield _bound("", cell.key, metric, seen, margin_pct, _thin(cell, name))


def _score_bounds(runs: Sequence[Measured], margin_pct: float) -> Iterator[Bound]:
    for block in runs[0].result.blocks:
        if block.block not in ("accuracy", "long_context"):
            continue
        of_all = [
            other.values
            for run in runs
            for other in run.result.blocks
            if (other.block, other.id) == (block.block, block.id)
        ]
        for name in block.values:
            metric = find(name)
            seen = [values[name] for values in of_all if name in values]
            if metric is not None and metric.direction is Direction.HIGHER and len(seen) == len(runs):
                where = "accuracy" if block.block == "accuracy" else "long_context_accuracy"
                yield _bound(where, block.id, metric, seen, margin_pct, "")


def _allowed(cell: Cell, metric: Metric) -> Bound:
    """Health is no measurement to follow but a rule: what the plan allows."""
    if metric.direction is Direction.LOWER:
        return Bound("", cell.key, metric.name, "max", float(cell.allowed_failures), 0.0, 0.0, None)
    share = 1 - cell.allowed_failures / cell.num_prompts
    return Bound("", cell.key, metric.name, "min", _outward(share, up=False), 1.0, 0.0, None)


def _bound(block: str, owner: str, metric: Metric, seen: Sequence[float], margin_pct: float, thin: str) -> Bound:
    mean = statistics.fmean(seen)
    sigma = statistics.stdev(seen) if len(seen) > 1 else None
    if thin:
        return Bound(block, owner, metric.name, "info", None, mean, sigma, None, thin)
    upward = metric.direction is Direction.HIGHER
    worst = min(seen) if upward else max(seen)
    beyond = worst * (1 - margin_pct / 100) if upward else worst * (1 + margin_pct / 100)
    value = _outward(beyond, up=not upward)
    room = abs(mean - value) / sigma if sigma else None
    return Bound(block, owner, metric.name, _kind(metric, upward), value, mean, sigma, room)


def _kind(metric: Metric, upward: bool) -> str:
    if upward:
        return "min_tok_s" if metric.unit == "tok/s" else "min"
    return "max_ms" if metric.unit == "ms" else "max"


def _thin(cell: Cell, name: str) -> str:
    """Why a percentile of this cell's requests says nothing; "" if enough of them lie beyond it."""
    beyond = thin_tail(name, cell.num_prompts)
    return "" if beyond is None else f"the worst {beyond} of {cell.num_prompts} requests: {needed(name)} are needed"


def _outward(value: float, *, up: bool) -> float:
    """`value` with four significant digits, rounded up or down."""
    if value == 0:
        return 0.0
    scale = 10.0 ** (_DIGITS - 1 - math.floor(math.log10(abs(value))))
    scaled = value * scale
    if math.isclose(scaled, round(scaled), rel_tol=1e-12):
        return round(scaled) / scale  # 1.05 x 100 is 105, not 105.1
    return (math.ceil(scaled) if up else math.floor(scaled)) / scale
