from __future__ import annotations

import pytest
from attrs import evolve
from tests.judging import make_result, mixed_plan

from atomrun.results import CellState
from atomrun.sweep import knee, past_knee


@pytest.mark.parametrize(
    ("levels", "found"),
    [
        ([], None),
        ([(8, 100.0)], None),
        ([(8, 100.0), (16, 190.0), (32, 350.0)], None),
        ([(64, 900.0), (128, 950.0), (256, 800.0)], 64),
        ([(256, 800.0), (64, 500.0), (128, 950.0)], 128),
        ([(64, 500.0), (128, 300.0), (256, 950.0)], None),
        ([(8, 0.0), (16, 0.0)], None),
        ([(8, 100.0), (16, 110.1)], None),
        ([(8, 100.0), (16, 109.9)], 8),
    ],
)
def test_the_knee_is_where_nothing_higher_pays(levels: list[tuple[int, float]], found: int | None) -> None:
    assert knee(levels) == found


def test_cells_beyond_it_say_so() -> None:
    plan = mixed_plan()
    told = past_knee(plan, make_result(plan).cells)
    assert told == {
        "balanced0-conc32": "past the knee of its sweep: 32 requests at once bring -22 % throughput over 16",
        "balanced0-conc64": "past the knee of its sweep: 64 requests at once bring +0 % throughput over 16",
    }


def test_shapes_are_sweeps_of_their_own_and_only_valid_cells_count() -> None:
    plan = mixed_plan()
    cells = make_result(plan).cells
    apart = evolve(plan, cells=tuple(evolve(cell, isl=512 * at) for at, cell in enumerate(plan.cells)))
    assert past_knee(apart, cells) == {}
    assert past_knee(plan, [evolve(cell, state=CellState.INVALID) for cell in cells]) == {}
