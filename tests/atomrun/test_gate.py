from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.judging import make_spec

from atomcfg.metrics import KINDS, Tier
from atomcfg.plan import Spec
from atomrun.gate import describe, failed_gates, judge, judge_all, tiers, unjudged, verdicts_of
from atomrun.results import BlockResult, CellResult, CellState, Status, Verdict

TTFT = "mean_ttft_ms"
THROUGHPUT = "output_throughput"
NAN, INFINITY = math.nan, math.inf

# spec, actual, status, margin: one line a rule
CASES: list[tuple[Spec, float, Status, float | None]] = [
    (make_spec("success_rate", "min", 1), 1, Status.PASS, 0),
    (make_spec("success_rate", "min", 1), 0.99999, Status.FAIL, pytest.approx(-0.001)),
    (make_spec("failed", "max", 0), 0, Status.PASS, None),
    (make_spec("failed", "max", 0), 1, Status.FAIL, None),
    (make_spec(THROUGHPUT, "min_tok_s", 1500), 1500, Status.PASS, 0),
    (make_spec(THROUGHPUT, "min_tok_s", 1500), 1499.9, Status.FAIL, pytest.approx(-0.00667, rel=1e-2)),
    (make_spec(THROUGHPUT, "min_tok_s", 1500), 1800, Status.PASS, pytest.approx(20)),
    (make_spec(TTFT, "max_ms", 500), 500, Status.PASS, 0),
    (make_spec(TTFT, "max_ms", 500), 500.01, Status.FAIL, pytest.approx(-0.002)),
    (make_spec(TTFT, "max_ms", 500), 400, Status.PASS, pytest.approx(20)),
    (make_spec(THROUGHPUT, "within", 100, tolerance_pct=5), 95, Status.PASS, 0),
    (make_spec(THROUGHPUT, "within", 100, tolerance_pct=5), 105, Status.PASS, 0),
    (make_spec(THROUGHPUT, "within", 100, tolerance_pct=5), 100, Status.PASS, 5),
    (make_spec(THROUGHPUT, "within", 100, tolerance_pct=5), 105.1, Status.FAIL, pytest.approx(-0.1)),
    (make_spec(THROUGHPUT, "within", 100, tolerance_pct=5), 94.9, Status.FAIL, pytest.approx(-0.1)),
    (make_spec(THROUGHPUT, "within", 100, tolerance_pct=0), 100, Status.PASS, 0),
    (make_spec(TTFT, "max_ms", 10), NAN, Status.FAIL, None),
    (make_spec(TTFT, "max_ms", 10), -INFINITY, Status.FAIL, None),
    (make_spec(THROUGHPUT, "min_tok_s", 10), NAN, Status.FAIL, None),
    (make_spec(THROUGHPUT, "min_tok_s", 10), INFINITY, Status.FAIL, None),
    (make_spec(THROUGHPUT, "within", 10, tolerance_pct=5), NAN, Status.FAIL, None),
    (make_spec(THROUGHPUT, "min_tok_s", NAN), 10, Status.FAIL, None),
    (make_spec(THROUGHPUT, "min_tok_s", None), 10, Status.FAIL, None),
    (make_spec(THROUGHPUT, "within", 10, tolerance_pct=None), 10, Status.FAIL, None),
    (make_spec(THROUGHPUT, "within", 10, tolerance_pct=NAN), 10, Status.FAIL, None),
    (make_spec(THROUGHPUT, "within", 10, tolerance_pct=-5), 10, Status.FAIL, None),
    (make_spec(THROUGHPUT, "at_least", 10), 10, Status.FAIL, None),
    (make_spec("duration", "info", 10), 99, Status.INFO, None),
    (make_spec("duration", "info"), 99, Status.INFO, None),
]


def named(item: object) -> str:
    return f"{item.metric} {item.kind} {item.value}" if isinstance(item, Spec) else str(item)


@pytest.mark.parametrize(("spec", "actual", "status", "margin"), CASES, ids=named)
def test_one_comparison(spec: Spec, actual: float, status: Status, margin: float | None) -> None:
    verdict = judge(spec, {spec.metric: actual})
    assert verdict.status is status
    assert verdict.margin_pct == margin


def test_a_verdict_carries_what_a_reader_needs() -> None:
    spec = make_spec(TTFT, "max_ms", 500, vacuous=True)
    verdict = judge(spec, {TTFT: 400.0}, owner="a-conc16", source="thr.json:12")
    assert verdict == Verdict(
        owner="a-conc16", metric=TTFT, kind="max_ms", status=Status.PASS, recorded=False, actual=400.0, bound=500.0,
        margin_pct=20.0, unit="ms", tier="ttft", vacuous=True, source="thr.json:12", reason="",
    )  # fmt: skip


RATIO = make_spec("output_tput_per_gpu", "min_ratio", 0.45, reference="per_gpu_throughput")


@pytest.mark.parametrize(
    ("base", "status", "reason"),
    [
        (800.0, Status.PASS, "400 / 800 (per_gpu_throughput)"),
        (400 / 0.45, Status.PASS, "400 / 888.889 (per_gpu_throughput)"),
        (1000.0, Status.FAIL, "400 / 1000 (per_gpu_throughput)"),
        (None, Status.FAIL, 'the reference "per_gpu_throughput" is missing'),
        (0.0, Status.FAIL, 'the reference "per_gpu_throughput" is 0'),
        (NAN, Status.FAIL, 'the reference "per_gpu_throughput" is nan'),
        (5e-324, Status.FAIL, "the ratio to per_gpu_throughput is not finite"),
    ],
)
def test_a_ratio_needs_its_reference(base: float | None, status: Status, reason: str) -> None:
    values = {"output_tput_per_gpu": 400.0} | ({} if base is None else {"per_gpu_throughput": base})
    verdict = judge(RATIO, values)
    assert (verdict.status, verdict.reason) == (status, reason)


def test_a_ratio_is_shown_as_one() -> None:
    verdict = judge(RATIO, {"output_tput_per_gpu": 400.0, "per_gpu_throughput": 800.0})
    assert (verdict.actual, verdict.bound, verdict.unit) == (0.5, 0.45, "x")
    assert verdict.margin_pct == pytest.approx(11.11, rel=1e-3)
    assert judge(make_spec(THROUGHPUT, "min_ratio", 1), {THROUGHPUT: 5.0}).status is Status.FAIL


def test_a_missing_metric_is_skipped_with_its_reason() -> None:
    spec = make_spec("p99_ttft_ms", "max_ms", 500)
    assert judge(spec, {}).status is Status.SKIPPED
    assert judge(spec, {}).reason == "not in the artifact"
    assert judge(spec, {}, {"p99_ttft_ms": "null in the artifact"}).reason == "null in the artifact"
    assert judge(make_spec("duration", "info"), {}).status is Status.SKIPPED


def test_an_invalid_cell_has_no_performance_only_health() -> None:
    values = {TTFT: 0.0, "failed": 80.0, "duration": 3.0}
    specs = [make_spec(TTFT, "max_ms", 500), make_spec("failed", "max", 0), make_spec("duration", "info")]
    found = judge_all("c", specs, values, {}, {}, invalid="80 requests failed")
    assert [verdict.status for verdict in found] == [Status.INVALID, Status.FAIL, Status.INVALID]
    assert found[0].reason == "80 requests failed"
    assert found[0].actual == 0.0


def test_not_enforced_is_recorded_with_what_it_would_have_been() -> None:
    spec = make_spec(TTFT, "max_ms", 500, enforced=False)
    assert (judge(spec, {TTFT: 600.0}).status, judge(spec, {TTFT: 600.0}).recorded) == (Status.FAIL, True)


def test_diagnostics_never_fail_the_run() -> None:
    verdict = judge(make_spec("duration", "max", 10), {"duration": 99.0})
    assert (verdict.status, verdict.recorded) == (Status.FAIL, True)
    assert failed_gates([verdict]) == ()


def test_a_margin_beyond_all_numbers_is_none() -> None:
    assert judge(make_spec(TTFT, "max_ms", 1e-300), {TTFT: 1e300}).margin_pct is None


def test_sources_are_looked_up_by_owner_and_metric() -> None:
    (found,) = judge_all("c", [make_spec("failed", "max", 0)], {"failed": 0}, {}, {"c/failed": "t.json:9"})
    assert found.source == "t.json:9"


def test_what_never_ran_has_an_invalid_verdict_for_each_spec() -> None:
    specs = [make_spec(TTFT, "max_ms", 500), make_spec("failed", "max", 0)]
    found = unjudged("c", specs, {"c/failed": "t.json:9"}, "never ran")
    assert [(item.status, item.reason, item.source) for item in found] == [
        (Status.INVALID, "never ran", ""),
        (Status.INVALID, "never ran", "t.json:9"),
    ]


def tier_of(*statuses: Status, metric: str = TTFT, kind: str = "max_ms") -> Status:
    actual = {Status.PASS: 400.0, Status.FAIL: 600.0}
    verdicts = []
    for status in statuses:
        values = {metric: actual[status]} if status in actual else {}
        invalid = "broken" if status is Status.INVALID else ""
        verdicts.append(judge(make_spec(metric, kind, 500), values, invalid=invalid))
    (outcome,) = tiers(verdicts)
    return outcome.status


def test_a_tier_is_as_bad_as_its_worst() -> None:
    assert tier_of(Status.PASS, Status.PASS) is Status.PASS
    assert tier_of(Status.PASS, Status.FAIL) is Status.FAIL
    assert tier_of(Status.PASS, Status.SKIPPED) is Status.PASS
    assert tier_of(Status.INVALID) is Status.INVALID
    assert tier_of(Status.PASS, kind="info") is Status.INFO
    assert tier_of(Status.INVALID, kind="info") is Status.INVALID


def test_a_tier_of_which_nothing_was_measured_fails() -> None:
    assert tier_of(Status.SKIPPED, Status.SKIPPED) is Status.FAIL
    assert tier_of(Status.SKIPPED, metric="scaling.efficiency_pct", kind="min") is Status.SKIPPED
    assert tier_of(Status.SKIPPED, metric="duration", kind="max") is Status.SKIPPED
    assert tier_of(Status.SKIPPED, kind="info") is Status.INFO


def test_tiers_come_in_the_order_of_the_vocabulary() -> None:
    specs = [make_spec("failed", "max", 0), make_spec(TTFT, "max_ms", 5), make_spec(THROUGHPUT, "min_tok_s", 5)]
    verdicts = judge_all("c", specs, {}, {}, {})
    assert [outcome.tier for outcome in tiers(verdicts)] == ["throughput", "ttft", "health"]


def test_failed_gates_come_worst_first() -> None:
    specs = [
        make_spec(THROUGHPUT, "min_tok_s", 1000),
        make_spec(TTFT, "max_ms", 500),
        make_spec("p99_ttft_ms", "max_ms", 900),
        make_spec("failed", "max", 0),
        make_spec("p99_tpot_ms", "max_ms", 5, enforced=False),
        make_spec("mean_e2el_ms", "max_ms", 5, enforced=False),
    ]
    values = {THROUGHPUT: 980.0, TTFT: 750.0, "p99_ttft_ms": 800.0, "failed": 2.0}
    assert failed_gates(judge_all("c", specs, values, {}, {"c/mean_ttft_ms": "t.json:9"})) == (
        "failed 2, not ≤ 0 count",
        "mean_ttft_ms 750, not ≤ 500 ms (-50.0 %, t.json:9)",
        "output_throughput 980, not ≥ 1,000 tok/s (-2.0 %)",
    )


def test_an_enforced_tier_without_measurements_is_a_failed_gate() -> None:
    specs = [make_spec("mean_tpot_ms", "max_ms", 5), make_spec("p99_tpot_ms", "max_ms", 5)]
    assert failed_gates(judge_all("c", specs, {}, {}, {})) == ("tpot: none of its 2 metrics is in the artifact",)


def test_a_verdict_in_a_line() -> None:
    within = judge(make_spec(THROUGHPUT, "within", 100, tolerance_pct=5), {THROUGHPUT: 90.0})
    assert describe(within) == "output_throughput 90, not ≈ 100 tok/s (-5.0 %, within 5 % of 100: 95 to 105)"
    assert describe(judge(RATIO, {"output_tput_per_gpu": 1.0})) == (
        'output_tput_per_gpu 1, not ≥ 0.45 tok/s (the reference "per_gpu_throughput" is missing)'
    )
    assert describe(judge(make_spec(TTFT, "max_ms", 5), {TTFT: NAN})) == "mean_ttft_ms: not finite: nan"
    assert describe(judge(make_spec(TTFT, "max_ms", 5), {TTFT: 1.0})) == "mean_ttft_ms: PASS"


def test_verdicts_of_cells_and_checks() -> None:
    (first,), (second,) = (unjudged(owner, [make_spec("failed", "max", 0)], {}, "") for owner in ("cell", "check"))
    cell = CellResult("cell", "", 0, 0, CellState.INCOMPLETE, "", "", 0, {}, {}, (first,))
    block = BlockResult("accuracy", "check", "error", "", 0, {}, (), (second,))
    assert verdicts_of([cell], [block]) == (first, second)


NUMBERS = st.none() | st.floats() | st.integers(-5, 5).map(float)


@given(
    kind=st.sampled_from(KINDS),
    metric=st.sampled_from(["output_throughput", "mean_ttft_ms", "success_rate", "scaling.efficiency_pct"]),
    bound=NUMBERS,
    tolerance=NUMBERS,
    actual=NUMBERS,
    base=NUMBERS,
)
def test_only_a_finite_actual_can_pass(
    kind: str, metric: str, bound: float | None, tolerance: float | None, actual: float | None, base: float | None
) -> None:
    spec = make_spec(metric, kind, bound, tolerance_pct=tolerance, reference="failed")
    values = {name: value for name, value in ((metric, actual), ("failed", base)) if value is not None}
    verdict = judge(spec, values)
    for number in (verdict.actual, verdict.margin_pct):
        assert number is None or math.isfinite(number)
    if verdict.status is Status.PASS:
        assert actual is not None
        assert math.isfinite(actual)
        assert bound is not None
        assert math.isfinite(bound)
        assert verdict.margin_pct is None or verdict.margin_pct >= -1e-9
    assert {tier.tier for tier in tiers([verdict])} <= {tier.value for tier in Tier}
