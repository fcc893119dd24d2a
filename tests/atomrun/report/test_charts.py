from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.judging import make_result, mixed_plan

from atomrun.report.charts import BOX, Chart, _round_steps, drawn
from atomrun.report.curves import FRONT, Curve, Point, curves

PLAN = mixed_plan()


def found() -> tuple[Chart, ...]:
    return tuple(map(drawn, curves(make_result(PLAN), PLAN, {})))


def test_a_curve_is_drawn_with_its_labels() -> None:
    chart = found()[0]
    (line,) = chart.lines
    assert (chart.x_label, chart.y_label, line.name, line.tone) == ("concurrency", "tok/s", "1024/1024", "s0")
    assert line.dots[0].label == "balanced0-conc16: 3,200 tok/s"
    assert [dot.anchor for dot in line.dots] == ["cell-0", "cell-1", "cell-2"]
    assert [tick.label for tick in chart.x_ticks] == ["16", "32", "64"]


def test_points_lie_in_the_box_and_higher_is_up() -> None:
    for chart in found():
        for dot in (dot for line in chart.lines for dot in line.dots):
            assert BOX.left <= dot.x <= BOX.width - BOX.right
            assert BOX.top <= dot.y <= BOX.height - BOX.bottom
    first, second, _ = found()[0].lines[0].dots
    assert first.y < second.y
    assert first.x < second.x


def test_doubling_stands_at_equal_steps() -> None:
    xs = [dot.x for dot in found()[0].lines[0].dots]
    assert xs[1] - xs[0] == pytest.approx(xs[2] - xs[1], abs=0.11)


def test_points_at_one_x_stand_in_the_middle() -> None:
    points = (Point(16, 1, "a"), Point(16, 2, "b"))
    chart = drawn(Curve("t", "x", "y", {"line": points}, doubling=True, levels=(16,)))
    assert {dot.x for dot in chart.lines[0].dots} == {(BOX.left + BOX.width - BOX.right) / 2}


def test_the_front_has_a_tone_of_its_own() -> None:
    points = (Point(1, 1, "a"), Point(2, 2, "b"))
    chart = drawn(Curve("t", "x", "y", {"a": points, FRONT: points}))
    assert [line.tone for line in chart.lines] == ["s0", "front"]


def test_no_more_labels_than_fit() -> None:
    levels = tuple(float(level) for level in range(1, 41))
    chart = drawn(Curve("t", "x", "y", {"a": tuple(Point(x, x, "") for x in levels)}, levels=levels))
    assert [tick.label for tick in chart.x_ticks] == [str(level) for level in range(1, 41, 4)]


@pytest.mark.parametrize(
    ("top", "steps"),
    [
        (0, (0, 1)),
        (4, (0, 1, 2, 3, 4)),
        (1000, (0, 250, 500, 750, 1000)),
        (13.2, (0, 5, 10, 15)),
        (0.9, (0, 0.25, 0.5, 0.75, 1)),
    ],
)
def test_axes_have_round_steps(top: float, steps: tuple[float, ...]) -> None:
    assert _round_steps(top) == pytest.approx(steps)


@given(top=st.floats(1e-9, 1e12))
def test_an_axis_reaches_its_highest_point(top: float) -> None:
    steps = _round_steps(top)
    assert steps[-1] >= top * (1 - 1e-6)
    assert len(steps) <= 6
