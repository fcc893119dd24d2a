"""Which runs may set bounds, which bounds they set, and that the file compiles and gates."""

from __future__ import annotations

import json
from typing import Any

import pytest
from attrs import evolve
from tests.judging import NO_CHECKS, artifact, make_attempt, make_cell, make_plan, make_run, make_spec

from atomcfg.documents import Source
from atomcfg.metrics import GATED
from atomcfg.plan import MtpQuality, Plan
from atomcfg.rebinding import gaps_of, rebind
from atomrun.calibration import Bound, Measured, Unfit, admit, bounds_of, thresholds_text, warnings_of
from atomrun.calibration.bounds import _outward
from atomrun.cells import incomplete_cell, judge_cell
from atomrun.conclude import conclude
from atomrun.gate import judge
from atomrun.results import BlockResult, Status

PLAN = make_plan(make_cell(make_spec("output_throughput", "min_tok_s", 1)))
FACTS = {"image 10.0.0.1": "sha256:01", "gpu_arch 10.0.0.1": "gfx942"}
ACCURACY = BlockResult(
    "accuracy",
    "gsm8k",
    "ok",
    "",
    9.0,
    {"gsm8k.exact_match__none": 0.9, "gsm8k.exact_match_stderr__none": 0.01},
    (),
    (),
)


def measured(number: int = 0, plan: Plan = PLAN, blocks: tuple[BlockResult, ...] = (), **changes: Any) -> Measured:
    """A healthy run whose cell measured 3200 tok/s, give or take `number`, and other things as `changes` say."""
    text = artifact(**{"output_throughput": 3200.0 + number, **changes})
    cells = (judge_cell(plan, plan.cells[0], make_attempt(text)),)
    run = make_run(
        run_id=f"run-{number}",
        started_at=f"2026-05-0{number % 8 + 1}T10:00:00Z",
        cells=cells,
        blocks=blocks,
        facts=FACTS,
    )
    return Measured(conclude(plan, run), plan)


def five(**changes: Any) -> list[Measured]:
    return [measured(number, **changes) for number in range(5)]


def bound_of(bounds: tuple[Bound, ...], metric: str) -> Bound:
    (found,) = [bound for bound in bounds if bound.metric == metric]
    return found


def with_result(run: Measured, **changes: Any) -> Measured:
    return Measured(evolve(run.result, **changes), run.plan)


UNFIT: dict[str, tuple[list[Measured], str]] = {
    "none": ([], "no run was named"),
    "twice": ([measured(), measured()], "run-0 is named twice"),
    "failed requests": ([measured(completed=77)], "3 requests failed"),
    "invalid": ([measured(duration=0.0)], "balanced-conc16 is invalid: nothing measured"),
    "rehearsal": ([with_result(measured(), transport="rehearsal")], "run-0 is a rehearsal"),
    "other image": (
        [measured(), with_result(measured(1), facts={**FACTS, "image 10.0.0.1": "sha256:02"})],
        "image digests sha256:01 and sha256:02",
    ),
    "other plan": ([measured(), with_result(measured(1), plan_digest="e" * 64)], "plan digest ddd"),
    "other driver": ([measured(), with_result(measured(1), driver="else")], "driver atom and else"),
    "a check in error": ([measured(blocks=(evolve(ACCURACY, status="error", reason="no lm-eval"),))], "no lm-eval"),
    "no cells": ([with_result(measured(), cells=())], "it has no cells"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNFIT)
def test_runs_that_must_not_set_bounds(name: str) -> None:
    runs, why = UNFIT[name]
    with pytest.raises(Unfit, match=why):
        admit(runs)


def test_a_failed_request_is_no_healthy_run_even_where_it_is_allowed() -> None:
    plan = make_plan(make_cell(allowed_failures=5))
    run = measured(plan=plan, completed=77)
    assert run.result.cells[0].state == "valid"
    with pytest.raises(Unfit, match="3 requests failed"):
        admit([run])


def test_an_unfinished_run_may_not_speak() -> None:
    run = measured()
    lost = incomplete_cell(PLAN, PLAN.cells[0], "the server died")
    with pytest.raises(Unfit, match="the server died"):
        admit([Measured(conclude(PLAN, make_run(cells=(lost,), run_id="r")), run.plan)])


def test_healthy_runs_of_one_kind_may_speak_and_rehearsals_when_asked() -> None:
    admit(five())
    admit([with_result(measured(), transport="rehearsal")], rehearsals=True)


def test_the_worst_run_and_a_margin_rounded_outward() -> None:
    bounds = bounds_of(five(), 5.0)
    floor = bound_of(bounds, "output_throughput")
    assert (floor.owner, floor.kind, floor.value) == (PLAN.cells[0].key, "min_tok_s", 3040.0)
    assert floor.mean == 3202
    assert floor.sigma == pytest.approx(1.5811, rel=1e-4)
    assert floor.room == pytest.approx((3202 - 3040) / 1.5811, rel=1e-4)
    ceiling = bound_of(bounds, "mean_ttft_ms")
    assert (ceiling.kind, ceiling.value, ceiling.sigma, ceiling.room) == ("max_ms", 126.5, 0.0, None)


@pytest.mark.parametrize(
    ("value", "down", "up"),
    [
        (1234.56, 1234, 1235),
        (0.012341, 0.01234, 0.01235),
        (105.00000000000001, 105, 105),
        (0, 0, 0),
        (99999, 99990, 100000),
    ],
)
def test_rounding_is_outward_and_no_further(value: float, down: float, up: float) -> None:
    assert _outward(value, up=False) == pytest.approx(down)
    assert _outward(value, up=True) == pytest.approx(up)


def test_health_follows_the_plan_and_not_the_measurement() -> None:
    plan = make_plan(make_cell(allowed_failures=4))
    bounds = bounds_of([measured(plan=plan)], 50.0)
    assert (bound_of(bounds, "failed").kind, bound_of(bounds, "failed").value) == ("max", 4)
    assert (bound_of(bounds, "success_rate").kind, bound_of(bounds, "success_rate").value) == ("min", 0.95)


def test_a_percentile_of_too_few_requests_is_only_recorded() -> None:
    bounds = bounds_of(five(), 5.0)
    thin = bound_of(bounds, "p99_ttft_ms")
    assert (thin.kind, thin.value) == ("info", None)
    assert thin.note == "the worst 1 of 80 requests: 500 are needed"
    assert bound_of(bounds, "p90_ttft_ms").value is not None
    assert bound_of(bounds, "p99_itl_ms").value is not None  # of tokens, not of requests


def test_a_metric_that_one_run_lacks_gets_no_bound() -> None:
    bounds = bounds_of([*five(), measured(7, median_ttft_ms=None)], 5.0)
    assert "median_ttft_ms" not in {bound.metric for bound in bounds}


def test_scores_get_a_floor_and_their_errors_none() -> None:
    bounds = bounds_of(five(blocks=(ACCURACY,)), 2.0)
    score = bound_of(bounds, "gsm8k.exact_match__none")
    assert (score.block, score.owner, score.kind, score.value) == ("accuracy", "gsm8k", "min", 0.882)
    assert "gsm8k.exact_match_stderr__none" not in {bound.metric for bound in bounds}


def test_needle_cells_and_scaling_get_bounds_too() -> None:
    needle = BlockResult("long_context", "n1", "ok", "", 9.0, {"accuracy.niah_pass_rate__n1": 1.0}, (), ())
    plan = make_plan(*PLAN.cells, scaling_baseline=3200.0)
    bounds = bounds_of(five(plan=plan, blocks=(needle,)), 5.0)
    assert bound_of(bounds, "accuracy.niah_pass_rate__n1").block == "long_context_accuracy"
    assert bound_of(bounds, "scaling.efficiency_pct").value == 95


def test_bounds_inside_the_noise_are_said() -> None:
    runs = [measured(number, mean_tpot_ms=4.7 + 0.3 * (number % 2)) for number in range(6)]
    (noise,) = [text for text in warnings_of(runs, bounds_of(runs, 0.0)) if "noise" in text]
    assert "mean_tpot_ms at 0.9 sigma" in noise
    assert not [text for text in warnings_of(five(), bounds_of(five(), 5.0)) if "noise" in text]


def test_few_runs_rehearsals_old_failures_and_blocks_without_bounds_are_said() -> None:
    plan = evolve(PLAN, checks=evolve(NO_CHECKS, mtp_quality=MtpQuality("", "", False, ())))
    strict = make_plan(make_cell(make_spec("output_throughput", "min_tok_s", 1e5)))
    runs = [with_result(measured(plan=plan), transport="rehearsal"), measured(1, plan=strict)]
    told = " | ".join(warnings_of(runs, bounds_of(runs, 5.0)))
    for part in ("the spread of 2 runs is a guess", "REHEARSAL", "failed in run-1", "mtp_quality gets no bounds"):
        assert part in told
    assert "one run shows no spread" in " ".join(warnings_of(runs[:1], bounds_of(runs[:1], 5.0)))


def test_the_file_says_where_its_bounds_come_from() -> None:
    runs = five(blocks=(ACCURACY,))
    document = json.loads(thresholds_text(runs, bounds_of(runs, 5.0), 5.0))
    known = document["_calibration"]
    assert known["runs"] == [f"run-{number}" for number in range(5)]
    assert (known["date"], known["margin_pct"], known["driver"]) == ("2026-05-05", 5.0, "atom")
    assert (known["arch"], known["detected_arch"]) == ("mi3xx", "gfx942")
    assert (known["image_digests"], known["nodes"]) == (["sha256:01"], ["10.0.0.1"])
    spread = known["spread"][PLAN.cells[0].key]["output_throughput"]
    assert (spread["mean"], spread["sigma"]) == (3202.0, 1.58114)
    assert document["accuracy"]["gsm8k"] == {"gsm8k.exact_match__none": {"kind": "min", "value": 0.855}}


def test_the_file_binds_and_its_own_runs_pass_it() -> None:
    runs = five()
    source = Source("threshold", "t.json", thresholds_text(runs, bounds_of(runs, 5.0), 5.0).encode())
    bound = rebind(PLAN, source)
    assert bound.value is not None
    specs = bound.value.cells[0].specs
    assert {spec.metric for spec in specs} == set(GATED)
    assert not any(spec.vacuous for spec in specs if spec.metric != "failed")
    for run in runs:
        values = run.result.cells[0].values
        assert {judge(spec, values).status for spec in specs} <= {Status.PASS, Status.INFO}
    slow = measured(6, output_throughput=3000.0).result.cells[0].values
    assert [spec.metric for spec in specs if judge(spec, slow).status is Status.FAIL] == [
        "output_throughput",
        "output_tput_per_gpu",
    ]
    (gaps,) = gaps_of(source).value or ()
    assert (gaps.missing, gaps.vacuous) == ((), ())
