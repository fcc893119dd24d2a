"""The deck's curves as geometry: points, ticks and labels in the units of an SVG box, for the template to draw."""

from __future__ import annotations

import math
from collections.abc import Iterable

from attrs import frozen

from atomrun.figures import number

from .curves import FRONT, Curve

__all__ = ["BOX", "Chart", "drawn"]


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
    failed: bool


@frozen
class Line:
    name: str
    tone: str
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
    dots: bool


def drawn(curve: Curve) -> Chart:
    """The geometry of a curve; its y axis begins at 0."""
    points = [point for line in curve.lines.values() for point in line]
    steps = curve.levels or _round_steps(max(point.x for point in points))
    xs = [_place(curve, x) for x in (*(point.x for point in points), *steps)]
    low, high = min(xs), max(xs)
    tops = _round_steps(max(point.y for point in points))

    def across(x: float) -> float:
        room = BOX.width - BOX.left - BOX.right
        return round(BOX.left + room * (0.5 if high == low else (_place(curve, x) - low) / (high - low)), 1)

    def down(value: float) -> float:
        return round(BOX.height - BOX.bottom - (BOX.height - BOX.top - BOX.bottom) * value / tops[-1], 1)

    return Chart(
        title=curve.title,
        x_label=curve.x_label,
        y_label=curve.y_label,
        lines=tuple(
            Line(
                name,
                "front" if name == FRONT else f"s{index}",
                tuple(
                    Dot(across(point.x), down(point.y), point.label, point.anchor, point.failed) for point in line
                ),
            )
            for index, (name, line) in enumerate(curve.lines.items())
        ),
        x_ticks=tuple(Tick(across(at), number(at, 3)) for at in _spread(steps)),
        y_ticks=tuple(Tick(down(value), number(value, 3)) for value in tops),
        dots=curve.dots,
    )


def _place(curve: Curve, x: float) -> float:
    return math.log2(x) if curve.doubling else x


def _spread(steps: Iterable[float]) -> tuple[float, ...]:
    """No more labels than fit beside each other."""
    found = tuple(steps)
    return found[:: -(-len(found) // 12)]


def _round_steps(top: float) -> tuple[float, ...]:
    """0 and up to five round steps that reach `top`."""
    if not top > 0:
        return (0.0, 1.0)
    raw = top / 4
    power = 10.0 ** math.floor(math.log10(raw))
    step = power * next(size for size in (1, 2, 2.5, 5, 10) if size * power >= raw * 0.999)
    return tuple(step * index for index in range(math.ceil(top / step - 1e-9) + 1))
