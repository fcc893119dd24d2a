from __future__ import annotations

import math

import pytest
from attrs import evolve
from tests.judging import make_cell, make_plan

from atomcfg import metrics
from atomcfg.plan import Plan, Topology
from atomrun.measure import measure
from atomrun.results import Reading

CELL = make_cell()


def plan_of(tp: int = 8, pp: int = 1, dp: int = 1, nnodes: int = 1, baseline: float | None = None) -> Plan:
    topology = Topology(nnodes, tp, pp, dp, tp * pp * dp, 8)
    return make_plan(CELL, topology=topology, scaling_baseline=baseline)


def values_of(plan: Plan | None = None, **values: float) -> dict[str, float]:
    measured = measure(Reading("atom", values), CELL, plan or plan_of())
    assert measured.values.keys().isdisjoint(measured.missing)
    assert all(metrics.find(name) for name in measured.values)
    return dict(measured.values)


def reason_of(metric: str, plan: Plan | None = None, **values: float) -> str:
    return measure(Reading("atom", values), CELL, plan or plan_of()).missing[metric]


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (plan_of(8), 400),
        (plan_of(8, pp=2), 200),
        (plan_of(8, dp=2), 200),
        (plan_of(4, 2, 2), 200),
    ],
    ids=["TP", "TP x PP", "TP x DP", "TP x PP x DP"],
)
def test_per_gpu_figures_divide_by_all_gpus(plan: Plan, expected: float) -> None:
    values = values_of(plan, total_token_throughput=3200, output_throughput=1600)
    assert values["per_gpu_throughput"] == expected
    assert values["output_tput_per_gpu"] == expected / 2


def test_health_is_counted_against_the_plan() -> None:
    """The artifact's own count may be that of the survivors."""
    values = values_of(completed=20)
    assert values["failed"] == 60
    assert values["success_rate"] == 0.25


def test_all_completed() -> None:
    values = values_of(completed=80)
    assert (values["failed"], values["success_rate"]) == (0, 1)


def test_a_written_count_of_failures_is_kept() -> None:
    assert values_of(completed=70, failed=3)["failed"] == 3


def test_more_completed_than_planned_is_no_success() -> None:
    assert reason_of("success_rate", completed=100) == "100 completed of 80 planned"
    assert reason_of("failed", completed=100) == "100 completed of 80 planned"
    assert reason_of("success_rate") == '"completed" is missing'


def test_nothing_completed_is_a_rate_of_zero() -> None:
    assert values_of(completed=0)["success_rate"] == 0


def test_diagnostics() -> None:
    values = values_of(mean_ttft_ms=204.8, p99_itl_ms=12, median_itl_ms=4, median_tpot_ms=5)
    assert values["normalized_ttft_ms_per_tok"] == pytest.approx(0.2)
    assert values["decode_latency_ratio"] == 3
    assert values["decode_throughput_p50"] == 200


def test_a_zero_divisor_is_no_figure() -> None:
    assert reason_of("decode_latency_ratio", p99_itl_ms=12, median_itl_ms=0) == "the divisor is 0"
    assert reason_of("decode_throughput_p50", median_tpot_ms=0) == "the divisor is 0"


def test_a_missing_part_is_named() -> None:
    assert reason_of("decode_latency_ratio", median_itl_ms=4) == '"p99_itl_ms" is missing'
    assert reason_of("per_gpu_throughput") == '"total_token_throughput" is missing'


def test_a_quotient_beyond_all_numbers_is_missing() -> None:
    assert reason_of("decode_latency_ratio", p99_itl_ms=1e308, median_itl_ms=1e-300) == "out of range"


def test_scaling_against_the_baseline_times_the_nodes() -> None:
    plan = plan_of(8, pp=2, nnodes=2, baseline=1000)
    assert values_of(plan, output_throughput=1600)["scaling.efficiency_pct"] == 80


def test_no_scaling_without_a_baseline() -> None:
    measured = measure(Reading("atom", {"output_throughput": 1600}), CELL, plan_of())
    assert "scaling.efficiency_pct" not in {**measured.values, **measured.missing}


def test_what_the_client_says_is_missing_stays_said() -> None:
    reading = Reading("atom", {"p99_itl_ms": 3.0}, {"median_itl_ms": "null in the artifact"})
    measured = measure(reading, CELL, plan_of())
    assert measured.missing["median_itl_ms"] == "null in the artifact"
    assert measured.missing["decode_latency_ratio"] == '"median_itl_ms" is missing'


def test_a_figure_that_the_client_writes_is_not_derived_again() -> None:
    assert values_of(total_token_throughput=800, per_gpu_throughput=7)["per_gpu_throughput"] == 7


def test_every_value_is_finite() -> None:
    plan = evolve(plan_of(), scaling_baseline=5e-324)
    values = values_of(plan, output_throughput=1e308, total_token_throughput=1e308, median_tpot_ms=5e-324)
    assert all(map(math.isfinite, values.values()))
