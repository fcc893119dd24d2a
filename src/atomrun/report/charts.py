"""The deck's curves as geometry: points, ticks and labels in the units of an SVG box, for the template to draw."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from attrs import frozen

from atomcfg.plan import Plan
from atomrun.figures import number
from atomrun.results import CellResult, CellState, RunResult

__all__ = ["BOX", "Chart", "charts"]

_SERIES = 6  # more lines than colours cannot be told apart


@frozen
class _Box:
    width: int = 580
    height: int = 250
    left: int = 56
    right: int = 14
    top: int = 12
    bottom: int = 40


BOX = _Box()


@frozen
class Dot:
    x: float
    y: float
    label: str
    anchor: str


@frozen
class Line:
    name: str
    dots: tuple[Dot, ...]


@frozen
class Tick:
    at: float
    label: str


@frozen
class Chart:
    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]


Point = tuple[float, float, str, str]  # x, y, label, anchor


def charts(result: RunResult, plan: Plan) -> tuple[Chart, ...]:
    """Throughput and latency against concurrency, and throughput per GPU against throughput per user.

    Only valid cells are drawn; a chart with fewer than two points is left out.
    """
    found = [
        _by_concurrency(result, plan, "output_throughput", "Output throughput", "tok/s"),
        _by_concurrency(result, plan, "mean_ttft_ms", "Time to first token, mean", "ms"),
        _by_concurrency(result, plan, "mean_tpot_ms", "Time per output token, mean", "ms"),
        _efficiency(result, plan),
    ]
    return tuple(chart for chart in found if sum(len(line.dots) for line in chart.lines) > 1)


def _by_concurrency(result: RunResult, plan: Plan, metric: str, title: str, unit: str) -> Chart:
    asked = {cell.id: cell for cell in plan.cells}
    series: dict[str, list[Point]] = {}
    for anchor, cell in _valid(result):
        if metric in cell.values and cell.id in asked:
            planned, value = asked[cell.id], cell.values[metric]
            label = f"{cell.id}: {number(value)} {unit}"
            series.setdefault(f"{planned.isl}/{planned.osl}", []).append(
                (math.log2(planned.concurrency), value, label, anchor)
            )
    levels = sorted({asked[cell.id].concurrency for _, cell in _valid(result) if cell.id in asked})
    ticks = [(math.log2(level), str(level)) for level in levels]
    return _chart(title, "concurrency", unit, series, ticks)


def _efficiency(result: RunResult, plan: Plan) -> Chart:
    asked = {cell.id: cell for cell in plan.cells}
    series: dict[str, list[Point]] = {}
    for anchor, cell in _valid(result):
        user, gpu = cell.values.get("decode_throughput_p50"), cell.values.get("output_tput_per_gpu")
        if user is not None and gpu is not None and cell.id in asked:
            label = f"{cell.id}: {number(gpu)} tok/s/GPU at {number(user)} tok/s/user"
            planned = asked[cell.id]
            series.setdefault(f"{planned.isl}/{planned.osl}", []).append((user, gpu, label, anchor))
    widest = max((point[0] for points in series.values() for point in points), default=1.0)
    ticks = [(value, number(value, 3)) for value in _round_steps(widest)]
    return _chart("Throughput per GPU against speed for a user", "tok/s/user", "tok/s/GPU", series, ticks)


def _valid(result: RunResult) -> Iterable[tuple[str, CellResult]]:
    for index, cell in enumerate(result.cells):
        if cell.state is CellState.VALID:
            yield f"cell-{index}", cell


def _chart(
    title: str, x_label: str, y_label: str, series: Mapping[str, list[Point]], ticks: Sequence[tuple[float, str]]
) -> Chart:
    points = [point for line in series.values() for point in line]
    xs = [point[0] for point in points] + [at for at, _ in ticks]
    low, high = min(xs, default=0.0), max(xs, default=1.0)
    tops = _round_steps(max((point[1] for point in points), default=1.0))

    def across(value: float) -> float:
        room = BOX.width - BOX.left - BOX.right
        return round(BOX.left + room * (0.5 if high == low else (value - low) / (high - low)), 1)

    def down(value: float) -> float:
        return round(BOX.height - BOX.bottom - (BOX.height - BOX.top - BOX.bottom) * value / tops[-1], 1)

    lines = [
        Line(name, tuple(Dot(across(x), down(y), label, anchor) for x, y, label, anchor in sorted(line)))
        for name, line in list(series.items())[:_SERIES]
    ]
    return Chart(
        title=title,
        x_label=x_label,
        y_label=y_label,
        lines=tuple(lines),
        x_ticks=tuple(Tick(across(at), label) for at, label in ticks),
        y_ticks=tuple(Tick(down(value), number(value, 3)) for value in tops),
    )


def _round_steps(top: float) -> tuple[float, ...]:
    """0 and up to five round steps that reach `top`."""
    if not top > 0:
        return (0.0, 1.0)
    raw = top / 4
    power = 10.0 ** math.floor(math.log10(raw))
    step = power * next(size for size in (1, 2, 2.5, 5, 10) if size * power >= raw * 0.999)
    return tuple(step * index for index in range(math.ceil(top / step - 1e-9) + 1))
