from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from tests.judging import make_plan, make_result, mixed_plan

from atomrun.report.charts import BOX, Chart, _round_steps, charts

PLAN = mixed_plan()


def found() -> tuple[Chart, ...]:
    return charts(make_result(PLAN), PLAN)


def test_curves_are_of_valid_cells() -> None:
    throughput, ttft, tpot, efficiency = found()
    assert [chart.y_label for chart in (throughput, ttft, tpot, efficiency)] == ["tok/s", "ms", "ms", "tok/s/GPU"]
    (line,) = throughput.lines
    assert line.name == "1024/1024"
    assert [dot.label for dot in line.dots] == [
        "balanced0-conc16: 3,200 tok/s",
        "balanced0-conc32: 2,500 tok/s",
        "balanced0-conc64: 3,200 tok/s",
    ]
    assert [dot.anchor for dot in line.dots] == ["cell-0", "cell-1", "cell-2"]
    assert [tick.label for tick in throughput.x_ticks] == ["16", "32", "64"]


def test_points_lie_in_the_box_and_higher_is_up() -> None:
    for chart in found():
        for dot in (dot for line in chart.lines for dot in line.dots):
            assert BOX.left <= dot.x <= BOX.width - BOX.right
            assert BOX.top <= dot.y <= BOX.height - BOX.bottom
    first, second, _ = found()[0].lines[0].dots
    assert first.y < second.y
    assert first.x < second.x


def test_one_point_is_no_curve() -> None:
    result = make_result(PLAN)
    assert charts(evolve(result, cells=result.cells[:1]), PLAN) == ()
    assert charts(make_result(make_plan()), make_plan()) == ()


def test_a_cell_without_the_figure_is_left_out() -> None:
    result = make_result(PLAN)
    first, second, third, *_ = result.cells
    bare = evolve(first, values={})
    chart = charts(evolve(result, cells=(bare, second, third)), PLAN)[0]
    assert [dot.anchor for dot in chart.lines[0].dots] == ["cell-1", "cell-2"]


def test_cells_at_one_concurrency_stand_in_the_middle() -> None:
    cells = tuple(evolve(cell, concurrency=16, isl=512 * rank) for rank, cell in enumerate(PLAN.cells, 1))
    plan = evolve(PLAN, cells=cells)
    chart = charts(make_result(PLAN), plan)[0]
    assert {dot.x for line in chart.lines for dot in line.dots} == {(BOX.left + BOX.width - BOX.right) / 2}


def test_no_more_lines_than_can_be_told_apart() -> None:
    plan = mixed_plan(12)
    cells = tuple(evolve(cell, isl=512 * rank) for rank, cell in enumerate(plan.cells, 1))
    assert {len(chart.lines) for chart in charts(make_result(plan), evolve(plan, cells=cells))} == {6}


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
