"""What the deck's curves show, as numbers. How they are drawn is in `charts` (SVG) and `interactive` (Vega)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from attrs import frozen

from atomcfg.plan import Cell, Plan
from atomrun.figures import number
from atomrun.gate import failed_gates
from atomrun.gpu import Sample
from atomrun.results import CellResult, CellState, RunResult
from atomrun.sweep import past_knee

__all__ = ["FRONT", "Curve", "Point", "curves"]

FRONT = "Pareto front"
_SERIES = 6  # more lines than colours cannot be told apart
_MOMENTS = 240  # of a poll; of more, the highest of each stretch is kept


@frozen
class Point:
    """`anchor` is the id of what the point is about in the deck; "" for none. `failed`: its gates did not hold."""

    x: float
    y: float
    label: str
    anchor: str = ""
    failed: bool = False


@frozen
class Curve:
    """One chart. `doubling`: x is a concurrency, drawn by its logarithm. `levels`: the x that are labelled; empty
    for round steps. Every line is sorted by x."""

    title: str
    x_label: str
    y_label: str
    lines: Mapping[str, tuple[Point, ...]]
    doubling: bool = False
    levels: tuple[float, ...] = ()
    dots: bool = True


def curves(result: RunResult, plan: Plan, polls: Mapping[str, Sequence[Sample]]) -> tuple[Curve, ...]:
    """Throughput and latency against concurrency, throughput per GPU against throughput per user with its Pareto
    front, GPU memory and power over time.

    Only valid cells are drawn; a chart with fewer than two points is left out.
    """
    cells = _Cells(result, plan)
    found = [
        cells.by_concurrency("output_throughput", "Output throughput", "tok/s"),
        cells.by_concurrency("mean_ttft_ms", "Time to first token, mean", "ms"),
        cells.by_concurrency("mean_tpot_ms", "Time per output token, mean", "ms"),
        cells.efficiency(),
        _over_time(polls, "GPU memory, the fullest of a node", "GB", _fullest),
        _over_time(polls, "GPU power, all of a node", "W", _drawn),
    ]
    return tuple(curve for curve in found if sum(map(len, curve.lines.values())) > 1)


class _Cells:
    """The valid cells of a run with what the plan asked of them, in the plan's order."""

    def __init__(self, result: RunResult, plan: Plan) -> None:
        asked = {cell.id: cell for cell in plan.cells}
        self._past = past_knee(plan, result.cells)
        self._rows = [
            (f"cell-{index}", asked[cell.id], cell)
            for index, cell in enumerate(result.cells)
            if cell.state is CellState.VALID and cell.id in asked
        ]

    def by_concurrency(self, metric: str, title: str, unit: str) -> Curve:
        lines: dict[str, list[Point]] = {}
        for anchor, asked, cell in self._rows:
            if metric in cell.values:
                value = cell.values[metric]
                label = self._label(cell, f"{number(value)} {unit}")
                point = Point(asked.concurrency, value, label, anchor, bool(failed_gates(cell.verdicts)))
                lines.setdefault(_line(asked), []).append(point)
        levels = tuple(sorted({float(asked.concurrency) for _, asked, _ in self._rows}))
        return Curve(title, "concurrency", unit, _sorted(lines), doubling=True, levels=levels)

    def efficiency(self) -> Curve:
        lines: dict[str, list[Point]] = {}
        for anchor, asked, cell in self._rows:
            user, gpu = cell.values.get("decode_throughput_p50"), cell.values.get("output_tput_per_gpu")
            if user is not None and gpu is not None:
                label = self._label(cell, f"{number(gpu)} tok/s/GPU at {number(user)} tok/s/user")
                point = Point(user, gpu, label, anchor, bool(failed_gates(cell.verdicts)))
                lines.setdefault(_line(asked), []).append(point)
        shown = _sorted(lines)
        front = _front(point for points in shown.values() for point in points)
        return Curve(
            "Throughput per GPU against speed for a user",
            "tok/s/user",
            "tok/s/GPU",
            {**shown, FRONT: front} if len(front) > 1 else shown,
        )

    def _label(self, cell: CellResult, text: str) -> str:
        past = self._past.get(cell.id)
        return f"{cell.id}: {text}" + (f" ({past})" if past else "")


def _line(cell: Cell) -> str:
    return f"{cell.isl}/{cell.osl}"


def _sorted(lines: Mapping[str, list[Point]]) -> dict[str, tuple[Point, ...]]:
    kept = list(lines.items())[:_SERIES]
    return {name: tuple(sorted(points, key=lambda point: (point.x, point.y))) for name, points in kept}


def _front(points: Iterable[Point]) -> tuple[Point, ...]:
    """The points that no other beats in one direction without losing in the other."""
    best: list[Point] = []
    for point in sorted(points, key=lambda item: (-item.x, -item.y)):
        if not best or point.y > best[-1].y:
            best.append(point)
    return tuple(reversed(best))


Moment = Sequence[Sample]


def _fullest(moment: Moment) -> float | None:
    known = [sample.memory_mb for sample in moment if sample.memory_mb is not None]
    return max(known) / 1024 if known else None


def _drawn(moment: Moment) -> float | None:
    known = [sample.power_w for sample in moment if sample.power_w is not None]
    return sum(known) if known else None


def _over_time(
    polls: Mapping[str, Sequence[Sample]], title: str, unit: str, of: Callable[[Moment], float | None]
) -> Curve:
    """Minutes since the first sample of the same rank, whose clock its sessions share."""
    begins: dict[str, float] = {}
    for name, samples in polls.items():
        rank = name.rpartition(".")[2]
        begins[rank] = min(begins.get(rank, samples[0].uptime), samples[0].uptime)
    lines = {name: _moments(samples, begins[name.rpartition(".")[2]], unit, of) for name, samples in polls.items()}
    return Curve(
        title,
        "minutes",
        unit,
        {name: points for name, points in list(lines.items())[:_SERIES] if points},
        dots=False,
    )


def _moments(
    samples: Sequence[Sample], begin: float, unit: str, of: Callable[[Moment], float | None]
) -> tuple[Point, ...]:
    moments: dict[float, list[Sample]] = {}
    for sample in samples:
        moments.setdefault(sample.uptime, []).append(sample)
    values = [(uptime, value) for uptime, moment in sorted(moments.items()) if (value := of(moment)) is not None]
    stride = -(-len(values) // _MOMENTS) or 1
    kept = [max(values[at : at + stride], key=lambda item: item[1]) for at in range(0, len(values), stride)]
    return tuple(
        Point((uptime - begin) / 60, value, f"{number(value)} {unit} after {(uptime - begin) / 60:.1f} min")
        for uptime, value in kept
    )
