"""The known ways for a gate to lie, each fed to the code that must not fall for it.

What each rule does in full is tested beside its module.
"""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from attrs import evolve
from tests.judging import NO_CHECKS, artifact, make_attempt, make_cell, make_plan, make_run, make_spec

from atomcfg.metrics import GATED, METRICS, Tier
from atomcfg.plan import Cell, MtpQuality, Plan, Topology
from atomrun.artifacts import ArtifactError, lm_eval, parse
from atomrun.calibration import Measured, Unfit, admit, bounds_of, warnings_of
from atomrun.cells import judge_cell
from atomrun.comparison import Refusal, compare, prev_run, sheet_of
from atomrun.conclude import conclude
from atomrun.gate import judge, tiers
from atomrun.gpu import Sample, summary
from atomrun.measure import measure
from atomrun.node.probe import quality
from atomrun.results import (
    BlockResult,
    CellResult,
    CellState,
    ExitCode,
    Reading,
    RunResult,
    RunVerdict,
    Status,
)
from atomrun.sweep import past_knee

TTFT = make_spec("mean_ttft_ms", "max_ms", 10)
P99 = make_spec("p99_ttft_ms", "max_ms", 400)
THROUGHPUT = make_spec("output_throughput", "min_tok_s", 3000)


def judged(cell: Cell, **fields: Any) -> CellResult:
    """A cell whose client left this artifact."""
    return judge_cell(make_plan(cell), cell, make_attempt(artifact(**fields)))


def concluded(plan: Plan, *cells: CellResult, blocks: tuple[BlockResult, ...] = (), **changes: Any) -> RunResult:
    return conclude(plan, make_run(cells=cells, blocks=blocks, **changes))


def test_g01_nan_passes_no_gate() -> None:
    for spec in (TTFT, THROUGHPUT, make_spec("output_throughput", "within", 10, tolerance_pct=1e9)):
        assert judge(spec, {spec.metric: math.nan}).status is Status.FAIL
    assert {item.status for item in judged(make_cell(TTFT), mean_ttft_ms=math.nan).verdicts} == {Status.SKIPPED}


def test_g03_all_failed_with_latency_zero_is_no_green_run() -> None:
    zeros = dict.fromkeys(("completed", "total_output_tokens", "output_throughput", "mean_ttft_ms", "duration"), 0)
    cell = make_cell(TTFT, num_prompts=200, allowed_failures=200)
    result = judged(cell, num_prompts=200, **zeros)
    assert result.state is CellState.INVALID
    assert [verdict.status for verdict in result.verdicts] == [Status.INVALID]
    assert concluded(make_plan(cell), result).verdict is RunVerdict.FAIL


def test_g04_survivors_are_counted_against_the_plan() -> None:
    result = judged(make_cell(THROUGHPUT, num_prompts=10240), num_prompts=919, completed=919)
    assert result.state is CellState.INVALID
    assert "the artifact is of 919 prompts, the plan asks for 10240" in result.reason


def test_g05_every_spec_has_exactly_one_verdict() -> None:
    cell = make_cell(make_spec("mean_ttft_ms", "max_ms", 500), P99)
    result = judged(cell, p99_ttft_ms=None)
    assert [verdict.metric for verdict in result.verdicts] == ["mean_ttft_ms", "p99_ttft_ms"]
    assert result.verdicts[1].status is Status.SKIPPED
    alone = judged(make_cell(P99), p99_ttft_ms=None)
    assert tiers(alone.verdicts)[0].status is Status.FAIL  # nothing of its tier was measured


def test_g06_every_written_bound_is_evaluated() -> None:
    spec = make_spec("p95_e2el_ms", "max", 1)
    cell = make_cell(spec)
    result = concluded(make_plan(cell), judged(cell, p95_e2el_ms=99999.0))
    assert (result.specs_written, result.specs_evaluated) == (1, 1)
    assert result.verdict is RunVerdict.FAIL
    assert {METRICS[name].tier for name in GATED} <= set(Tier) - {Tier.RECORD, Tier.SCALING}


def test_g08_nothing_judged_is_no_verdict() -> None:
    cell = make_cell()
    result = concluded(make_plan(cell), judged(cell))
    assert (result.verdict, ExitCode.of(result.verdict)) == (RunVerdict.NO_VERDICT, 4)


def test_g09_per_gpu_figures_divide_by_the_topology() -> None:
    cell = make_cell()
    for shape, figure in ((Topology(2, 8, 2, 1, 16, 8), 200), (Topology(1, 4, 1, 2, 8, 8), 400)):
        reading = Reading("atom", {"total_token_throughput": 3200.0})
        assert measure(reading, cell, make_plan(cell, topology=shape)).values["per_gpu_throughput"] == figure


def test_g11_numbers_come_from_structured_artifacts_only() -> None:
    table = "Mean TTFT (ms): 12.5\nMean TTFT (ms): 99.0\nacceptance_rate: 6.1e-01\n"
    with pytest.raises(ArtifactError):
        parse("atom", table)
    assert parse("atom", artifact(mean_ttft_ms=6.1e-01)).values["mean_ttft_ms"] == 0.61
    with pytest.raises(ArtifactError):
        parse("atom", artifact().replace('"duration"', '"mean_ttft_ms": 1.0, "duration"', 1))


@pytest.mark.parametrize("kind", ["min", "min_tok_s", "max", "max_ms", "within", "min_ratio"])
def test_g12_every_gate_can_fire(kind: str) -> None:
    more: dict[str, Any] = {"tolerance_pct": 1.0} if kind == "within" else {}
    more |= {"reference": "total_token_throughput"} if kind == "min_ratio" else {}
    spec = make_spec("output_throughput", kind, 100, **more)
    values = {"total_token_throughput": 1.0}
    found = {judge(spec, values | {"output_throughput": actual}).status for actual in (1.0, 100.0, 1e4)}
    assert found == {Status.PASS, Status.FAIL}


def test_g14_the_clients_table_is_not_taken_for_looping_output() -> None:
    assert not quality.is_degenerate("============ Serving Benchmark Result ============")
    assert quality.is_degenerate("over and over again " * 5)


def test_g15_every_node_is_in_the_worst_that_is_shown() -> None:
    good, bad = Sample(1.0, "0", 100.0, 1.0, 1.0, 1.0), Sample(1.0, "0", 9e4, 1.0, 1.0, 1.0)
    assert summary([good, bad])["gpu.peak_gpu_memory_mb"] == summary([bad, good])["gpu.peak_gpu_memory_mb"] == 9e4
    cell = make_cell()
    blocks = tuple(
        BlockResult("dmesg", node, status, "2 XGMI errors" if status == "failed" else "", 1.0, {}, (), ())
        for node, status in (("n0", "ok"), ("n1", "failed"))
    )
    result = concluded(make_plan(cell), judged(cell), blocks=blocks)
    assert result.verdict is RunVerdict.FAIL
    assert any("n1" in reason and "XGMI" in reason for reason in result.reasons)


def scores(**metrics: Any) -> str:
    samples = {"gsm8k": {"original": 9, "effective": 9}}
    return json.dumps({"results": {"gsm8k": metrics}, "n-samples": samples, "lm_eval_version": "0.4.9"})


FILTERS = {"exact_match,strict-match": 0.0, "exact_match,flexible-extract": 0.95}


def test_g16_a_score_is_named_with_its_filter() -> None:
    values = lm_eval.parse(scores(**FILTERS)).values
    strict = make_spec("gsm8k.exact_match__strict-match", "min", 0.9)
    flexible = evolve(strict, metric="gsm8k.exact_match__flexible-extract")
    assert [judge(spec, values).status for spec in (strict, flexible)] == [Status.FAIL, Status.PASS]
    assert judge(evolve(strict, metric="gsm8k.exact_match__none"), values).status is Status.SKIPPED


def test_g17_odd_values_are_dropped_and_listed() -> None:
    text = scores(**FILTERS, **{"exact_match_stderr,strict-match": "N/A", "acc,none": math.inf})
    found = lm_eval.parse(text)
    assert set(found.dropped) >= {"gsm8k.exact_match_stderr__strict-match", "gsm8k.acc__none"}
    assert all(map(math.isfinite, found.values.values()))


def test_g18_a_uniform_zero_is_the_harness() -> None:
    found = lm_eval.parse(scores(**dict.fromkeys(FILTERS, 0.0)))
    assert lm_eval.implausible(found)
    assert not lm_eval.implausible(lm_eval.parse(scores(**FILTERS)))


CELL = make_cell(THROUGHPUT, allowed_failures=5)
PLAN = make_plan(CELL)


def measured(number: int = 0, **fields: Any) -> Measured:
    return Measured(concluded(PLAN, judged(CELL, **fields), run_id=f"run-{number}"), PLAN)


def test_g20_only_a_healthy_run_sets_bounds() -> None:
    with pytest.raises(Unfit, match="3 requests failed"):
        admit([measured(completed=77)])
    other = measured(1)
    other = Measured(evolve(other.result, plan_digest="e" * 64), other.plan)
    with pytest.raises(Unfit, match="plan digest"):
        admit([measured(), other])


def test_g21_a_bound_inside_the_noise_is_said() -> None:
    runs = [
        measured(number, output_throughput=value) for number, value in enumerate((1.0, 1.006, 0.994, 1.006, 0.994))
    ]
    told = " ".join(warnings_of(runs, bounds_of(runs, 0.0)))
    assert "output_throughput at 1." in told
    assert "one run shows no spread" in " ".join(warnings_of(runs[:1], bounds_of(runs[:1], 5.0)))


def test_g22_a_percentile_of_too_few_requests_says_so_and_is_not_calibrated() -> None:
    cell = make_cell(P99, num_prompts=100)
    fields = {"num_prompts": 100, "completed": 100, "total_input_tokens": 100 * 1000}
    verdict = judged(cell, **fields).verdicts[0]
    assert (verdict.status, verdict.reason) == (Status.PASS, "of the worst 1 of 100 requests")
    thin = {bound.metric: bound for bound in bounds_of([measured()], 5.0)}["p99_ttft_ms"]
    assert (thin.kind, thin.value) == ("info", None)


def test_g24_fields_that_nobody_uses_break_nothing() -> None:
    fields = {"request_rate": "inf", "burstiness": math.inf, "nobody_knows": {"a": [1]}}
    assert judged(make_cell(THROUGHPUT), **fields).state is CellState.VALID
    reading = parse("atom", artifact(**fields))
    assert (reading.echo["request_rate"], json.loads(reading.extra["nobody_knows"])) == ("inf", {"a": [1]})


def test_g26_a_ratio_of_nothing_is_missing_and_no_crash() -> None:
    result = judged(make_cell(make_spec("success_rate", "min", 1), num_prompts=80), completed=0, failed=0)
    assert result.state is CellState.INVALID
    assert result.verdicts[0].status is Status.FAIL
    ratio = make_spec("output_tput_per_gpu", "min_ratio", 0.5, reference="per_gpu_throughput")
    assert judge(ratio, {"output_tput_per_gpu": 0.0, "per_gpu_throughput": 0.0}).status is Status.FAIL


def test_g28_one_failed_part_fails_the_whole() -> None:
    cell = make_cell(make_spec("output_throughput", "min_tok_s", 1))
    good = BlockResult("functional", "health_check", "ok", "", 1.0, {}, (), ())
    bad = evolve(good, id="api_smoke", status="failed", reason="no error for an unknown model")
    assert concluded(make_plan(cell), judged(cell), blocks=(good,)).verdict is RunVerdict.PASS
    assert concluded(make_plan(cell), judged(cell), blocks=(good, bad, good)).verdict is RunVerdict.FAIL
    broken = evolve(bad, status="error")
    assert concluded(make_plan(cell), judged(cell), blocks=(broken,)).verdict is RunVerdict.INFRASTRUCTURE


def test_g29_a_run_is_never_compared_with_itself_or_another_environment() -> None:
    ours = sheet_of(measured().result, PLAN)
    with pytest.raises(Refusal, match="with itself"):
        compare(ours, ours)
    with pytest.raises(Refusal, match="transport is ssh, not local"):
        compare(ours, evolve(ours, run_id="other", transport="local"))
    assert prev_run(ours, ours).rows == ()
    assert "noise" in compare(ours, evolve(ours, run_id="other")).notes[0]


def test_g31_speculation_without_a_sign_of_it_is_no_pass() -> None:
    """The check is asked for; what it finds is in `stages/mtp_quality`. Unanswered, it withholds the verdict."""
    cell = make_cell(make_spec("output_throughput", "min_tok_s", 1))
    plan = make_plan(cell, checks=evolve(NO_CHECKS, mtp_quality=MtpQuality("", "", True, ())))
    silent = BlockResult(
        "mtp_quality", "mtp_quality", "invalid", "the server's metrics do not say", 1.0, {}, (), ()
    )
    assert concluded(plan, judged(cell), blocks=(silent,)).verdict is not RunVerdict.PASS
    assert concluded(plan, judged(cell)).verdict is RunVerdict.INFRASTRUCTURE  # it never ran


def test_g32_requests_that_were_cut_off_are_not_completed() -> None:
    cell = make_cell(THROUGHPUT, num_prompts=1000)
    result = judged(cell, num_prompts=1000, completed=640)
    assert result.state is CellState.INVALID
    assert "360 requests failed of 1000" in result.reason


def test_g33_a_bound_beyond_the_knee_says_so() -> None:
    cells = tuple(make_cell(THROUGHPUT, id=f"c{level}", concurrency=level) for level in (64, 128, 256))
    plan = make_plan(*cells)
    speeds = zip(cells, (4000.0, 3500.0, 2900.0), strict=True)
    results = [judged(cell, max_concurrency=cell.concurrency, output_throughput=speed) for cell, speed in speeds]
    assert results[2].verdicts[0].status is Status.FAIL
    assert past_knee(plan, results)["c256"].startswith(
        "past the knee of its sweep: 256 requests at once bring -28 %"
    )
