from __future__ import annotations

import json

import pytest
from attrs import evolve
from tests.judging import make_plan, make_result, mixed_plan

from atomrun.gpu import Sample
from atomrun.report.curves import FRONT, Curve, Point, _front, curves
from atomrun.report.interactive import available, bundle, specifications

PLAN = mixed_plan()
RESULT = make_result(PLAN)


def sample(uptime: float, gpu: str, memory: float | None, power: float | None) -> Sample:
    return Sample(uptime, gpu, memory, 50.0, 20.0, power)


def test_curves_are_of_valid_cells() -> None:
    throughput, ttft, tpot, efficiency = curves(RESULT, PLAN, {})
    assert [curve.y_label for curve in (throughput, ttft, tpot, efficiency)] == ["tok/s", "ms", "ms", "tok/s/GPU"]
    points = throughput.lines["1024/1024"]
    assert [(point.x, point.y) for point in points] == [(16, 3200), (32, 2500), (64, 3200)]
    assert points[0].label == "balanced0-conc16: 3,200 tok/s"
    assert [point.anchor for point in points] == ["cell-0", "cell-1", "cell-2"]
    assert [point.failed for point in points] == [False, True, False]
    assert throughput.levels == (16, 32, 64)


def test_a_point_past_the_knee_says_so() -> None:
    point = curves(RESULT, PLAN, {})[0].lines["1024/1024"][1]
    assert point.label.endswith("(past the knee of its sweep: 32 requests at once bring -22 % throughput over 16)")


def test_one_point_is_no_curve() -> None:
    assert curves(evolve(RESULT, cells=RESULT.cells[:1]), PLAN, {}) == ()
    assert curves(make_result(make_plan()), make_plan(), {}) == ()


def test_a_cell_without_the_figure_is_left_out() -> None:
    first, second, third, *_ = RESULT.cells
    bare = evolve(first, values={})
    curve = curves(evolve(RESULT, cells=(bare, second, third)), PLAN, {})[0]
    assert [point.anchor for point in curve.lines["1024/1024"]] == ["cell-1", "cell-2"]


def test_no_more_lines_than_can_be_told_apart() -> None:
    plan = mixed_plan(12)
    cells = tuple(evolve(cell, isl=512 * rank) for rank, cell in enumerate(plan.cells, 1))
    found = curves(make_result(plan), evolve(plan, cells=cells), {})
    assert {len([name for name in curve.lines if name != FRONT]) for curve in found} == {6}


def test_the_front_is_what_no_other_point_beats() -> None:
    points = [Point(*at, "") for at in ((1, 9), (2, 8), (2, 5), (3, 8), (5, 1), (4, 0.5), (1, 3))]
    assert [(point.x, point.y) for point in _front(points)] == [(1, 9), (3, 8), (5, 1)]


def test_memory_and_power_over_time_by_node() -> None:
    polls = {
        "0.1.rank-0": (
            sample(100.0, "0", 2048.0, 400.0),
            sample(100.0, "1", 4096.0, 500.0),
            sample(160.0, "0", None, 450.0),
            sample(160.0, "1", 1024.0, None),
        ),
        "0.1.rank-1": (sample(9000.0, "0", None, 100.0), sample(9030.0, "0", None, None)),
        "1.1.rank-0": (sample(220.0, "0", 512.0, 1.0),),
    }
    memory, power = curves(evolve(RESULT, cells=()), PLAN, polls)
    places = {name: [(point.x, point.y) for point in line] for name, line in memory.lines.items()}
    assert places == {"0.1.rank-0": [(0, 4), (1, 1)], "1.1.rank-0": [(2, 0.5)]}
    places = {name: [(point.x, point.y) for point in line] for name, line in power.lines.items()}
    assert places == {
        "0.1.rank-0": [(0, 900), (1, 450)],
        "0.1.rank-1": [(0, 100)],
        "1.1.rank-0": [(2, 1)],
    }
    assert power.lines["0.1.rank-0"][0].label == "900 W after 0.0 min"


def test_a_long_poll_keeps_its_peaks() -> None:
    samples = tuple(sample(float(at), "0", 9216.0 if at == 777 else 1024.0, None) for at in range(1000))
    (memory,) = curves(evolve(RESULT, cells=()), PLAN, {"0.1.rank-0": samples})
    line = memory.lines["0.1.rank-0"]
    assert len(line) <= 240
    assert max(point.y for point in line) == 9


@pytest.mark.skipif(not available(), reason="the extra report is not installed")
class TestInteractive:
    def test_every_point_is_in_the_document_and_nothing_ends_its_element(self) -> None:
        curve = Curve("t", "x", "tok/s", {"</script>": (Point(1, 2, "</script>", "cell-0"), Point(2, 3, "b"))})
        text = specifications([curve])
        assert "<" not in text
        (document,) = json.loads(text)
        assert document["datasets"]["points"][0] == {
            "x": 1, "y": 2, "line": "</script>", "label": "</script>", "at": "cell-0", "failed": False,
        }  # fmt: skip

    def test_concurrency_has_a_logarithmic_axis_with_its_levels(self) -> None:
        documents = json.loads(specifications(curves(RESULT, PLAN, {})))
        x = documents[0]["layer"][0]["encoding"]["x"]
        assert (x["scale"]["type"], x["axis"]["values"]) == ("log", [16, 32, 64])
        assert documents[3]["layer"][0]["encoding"]["x"]["scale"].get("type") is None

    def test_a_flat_zero_still_has_an_axis(self) -> None:
        curve = Curve("t", "x", "W", {"a": (Point(0, 0, ""), Point(1, 0, ""))}, dots=False)
        (document,) = json.loads(specifications([curve]))
        assert document["layer"][0]["encoding"]["y"]["scale"]["domain"] == [0, 1.06]

    def test_the_bundle_can_stand_in_a_page_and_is_made_once(self) -> None:
        first = bundle()
        assert "</script" not in first
        assert "<!--" not in first
        assert "window.vegaEmbed" in first
        assert bundle() == first
