from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from tests.judging import NO_CHECKS, artifact, make_attempt, make_cell, make_plan, make_run, make_spec

from atomcfg.plan import AccuracyTask, Plan
from atomrun.cells import incomplete_cell, judge_cell
from atomrun.conclude import conclude
from atomrun.gate import judge_all
from atomrun.results import BlockResult, ExitCode, RunResult, RunVerdict, StageResult, StageStatus

HEALTHY = artifact()
SPECS = (make_spec("output_throughput", "min_tok_s", 3000), make_spec("failed", "max", 0))
RECORDED = tuple(evolve(spec, enforced=False) for spec in SPECS)
SCORE = make_spec("gsm8k.exact_match__strict-match", "min", 0.9)


def run_of(plan: Plan, *artifacts: str | None, **changes: Any) -> RunResult:
    """The result of a run whose cells left `artifacts`; None is a cell that never finished."""
    cells = []
    for cell, text in zip(plan.cells, artifacts, strict=False):
        if text is None:
            cells.append(incomplete_cell(plan, cell, "the server died"))
        else:
            cells.append(judge_cell(plan, cell, make_attempt(text)))
    return conclude(plan, make_run(cells=tuple(cells), **changes))


def enforcing(*ids: str, **changes: Any) -> Plan:
    return make_plan(*(make_cell(*SPECS, id=name) for name in ids), **changes)


def recording(*ids: str, **changes: Any) -> Plan:
    cells = (make_cell(*RECORDED, id=name) for name in ids)
    return make_plan(*cells, enforce_thresholds=False, **changes)


def check(status: str, block: str = "functional", reason: str = "because", **changes: Any) -> BlockResult:
    return evolve(BlockResult(block, block, status, reason, 1.0, {}, (), ()), **changes)


SLOW = artifact(output_throughput=2500.0)
INVALID = artifact(completed=77)

# name: (result, verdict, reasons)
CASES: dict[str, tuple[RunResult, RunVerdict, tuple[str, ...]]] = {
    "all held": (run_of(enforcing("a", "b"), HEALTHY, HEALTHY), RunVerdict.PASS, ()),
    "one failed": (
        run_of(enforcing("a", "b"), HEALTHY, SLOW),
        RunVerdict.FAIL,
        ("b: output_throughput 2,500, not ≥ 3,000 tok/s (-16.7 %, threshold.json:10)",),
    ),
    "one invalid": (
        run_of(enforcing("a"), INVALID),
        RunVerdict.FAIL,
        (
            "a is invalid: 3 requests failed of 80; 0 may (bench_max_failed_requests)",
            "a: failed 3, not ≤ 0 count (threshold.json:11)",
        ),
    ),
    "one incomplete": (
        run_of(enforcing("a", "b"), SLOW, None),
        RunVerdict.INFRASTRUCTURE,
        (
            "b is incomplete: the server died",
            "a: output_throughput 2,500, not ≥ 3,000 tok/s (-16.7 %, threshold.json:10)",
        ),
    ),
    "one never ran": (
        run_of(enforcing("a", "b"), HEALTHY),
        RunVerdict.INFRASTRUCTURE,
        ("b is incomplete: never ran",),
    ),
    "recorded": (run_of(recording("a"), HEALTHY), RunVerdict.RECORDED, ()),
    "recorded, and slow": (run_of(recording("a"), SLOW), RunVerdict.RECORDED, ()),
    "recorded, and invalid": (
        run_of(recording("a"), INVALID),
        RunVerdict.INFRASTRUCTURE,
        ("a is invalid: 3 requests failed of 80; 0 may (bench_max_failed_requests)",),
    ),
    "nothing in the plan": (run_of(make_plan()), RunVerdict.NO_VERDICT, ("no enforced spec was judged",)),
    "nothing to record": (
        run_of(make_plan(enforce_thresholds=False)),
        RunVerdict.NO_VERDICT,
        ("nothing was measured",),
    ),
    "enforcing without a spec": (
        run_of(make_plan(make_cell(id="a"), make_cell(*SPECS, id="b")), HEALTHY, HEALTHY),
        RunVerdict.NO_VERDICT,
        ("a: nothing was judged",),
    ),
    "enforcing what is only noted": (
        run_of(make_plan(make_cell(make_spec("mean_ttft_ms", "info"), id="a")), HEALTHY),
        RunVerdict.NO_VERDICT,
        ("a: nothing was judged", "no enforced spec was judged"),
    ),
    "interrupted": (
        run_of(enforcing("a", "b"), HEALTHY, interrupted=True),
        RunVerdict.INTERRUPTED,
        ("interrupted", "b is incomplete: never ran"),
    ),
    "a stage failed": (
        run_of(
            enforcing("a"),
            HEALTHY,
            stages=(StageResult("teardown", StageStatus.FAILED, "2 processes are left", node="10.0.0.2"),),
        ),
        RunVerdict.INFRASTRUCTURE,
        ("teardown on 10.0.0.2: 2 processes are left",),
    ),
    "a stage warned": (
        run_of(enforcing("a"), HEALTHY, stages=(StageResult("preflight", StageStatus.WARNING, "no token"),)),
        RunVerdict.PASS,
        (),
    ),
    "a stage failed on a cell that is invalid anyway": (
        run_of(enforcing("a"), INVALID, stages=(StageResult("bench", StageStatus.FAILED, "exit 3", cell="a"),)),
        RunVerdict.FAIL,
        (
            "a is invalid: 3 requests failed of 80; 0 may (bench_max_failed_requests)",
            "a: failed 3, not ≤ 0 count (threshold.json:11)",
        ),
    ),
    "a stage failed on a cell that came out valid": (
        run_of(enforcing("a"), HEALTHY, stages=(StageResult("collect", StageStatus.FAILED, "no disk", cell="a"),)),
        RunVerdict.INFRASTRUCTURE,
        ("collect: no disk",),
    ),
    "a check failed": (
        run_of(recording("a"), HEALTHY, blocks=(check("failed"),)),
        RunVerdict.FAIL,
        ("functional: because",),
    ),
    "a check ended in an error": (
        run_of(recording("a"), HEALTHY, blocks=(check("error", reason=""),)),
        RunVerdict.INFRASTRUCTURE,
        ("functional: error",),
    ),
    "a check says nothing": (
        run_of(enforcing("a"), HEALTHY, blocks=(check("not_scanned", "dmesg", id="10.0.0.1"),)),
        RunVerdict.NO_VERDICT,
        ("dmesg 10.0.0.1: because",),
    ),
    "a check says nothing, recorded": (
        run_of(recording("a"), HEALTHY, blocks=(check("unsupported"),)),
        RunVerdict.RECORDED,
        (),
    ),
    "a check was left out": (run_of(enforcing("a"), HEALTHY, blocks=(check("skipped"),)), RunVerdict.PASS, ()),
    "cells were left out": (
        run_of(enforcing("a", "b"), HEALTHY, deselected={"b": "not selected (--cell)"}),
        RunVerdict.PASS,
        (),
    ),
    "a cell ran though it was to be left out": (
        run_of(enforcing("a"), SLOW, deselected={"a": "not selected (--cell)"}),
        RunVerdict.FAIL,
        ("a: output_throughput 2,500, not ≥ 3,000 tok/s (-16.7 %, threshold.json:10)",),
    ),
    "all cells were left out": (
        run_of(enforcing("a"), deselected={"a": "not selected (--cell)"}),
        RunVerdict.NO_VERDICT,
        ("no enforced spec was judged",),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_run_is_as_bad_as_its_worst_part(name: str) -> None:
    result, verdict, reasons = CASES[name]
    assert (result.verdict, result.reasons) == (verdict, reasons)


def test_every_verdict_occurs() -> None:
    assert {verdict for _, verdict, _ in CASES.values()} == set(RunVerdict)
    assert {ExitCode.of(verdict) for verdict in RunVerdict} == {0, 1, 3, 4, 130}


def test_what_the_result_says_of_the_run() -> None:
    result = run_of(enforcing("a"), HEALTHY, facts={"ROCm": "7.1"}, warnings=("no token",), transport="local")
    assert (result.run_id, result.transport, result.started_at, result.seconds) == (
        "run-1", "local", "2026-05-01T12:00:00Z", 600.0,
    )  # fmt: skip
    assert (result.stem, result.profile, result.driver, result.gpu_arch) == (
        "mi3xx_atom_model_fp8_single", "perf", "atom", "mi3xx",
    )  # fmt: skip
    assert (result.facts, result.warnings, result.plan_digest) == ({"ROCm": "7.1"}, ("no token",), "d" * 64)


def test_specs_written_are_evaluated_skipped_or_not_judged() -> None:
    specs = (
        make_spec("output_throughput", "min_tok_s", 3000),
        make_spec("request_throughput", "min", 0, vacuous=True),
        make_spec("goodput", "min", 1),
        make_spec("duration", "info"),
    )
    result = run_of(make_plan(make_cell(*specs, id="a"), make_cell(*specs, id="b")), HEALTHY, None)
    counted = (result.specs_written, result.specs_evaluated, result.specs_skipped, result.specs_vacuous)
    assert counted == (8, 3, 1, 2)


def test_cells_left_out_are_shown_and_told() -> None:
    result = run_of(enforcing("a", "b", "c"), HEALTHY, deselected={"b": "not selected", "c": "not selected"})
    assert [cell.reason for cell in result.cells] == ["", "not selected", "not selected"]
    assert result.warnings == ("2 of 3 cells were left out on purpose",)


def accuracy(status: str, score: float | None, enforced: bool = True, invalid: str = "") -> RunResult:
    spec = evolve(SCORE, enforced=enforced)
    task = AccuracyTask("gsm8k", "gsm8k", (), (), "/out", 600, (spec,))
    plan = evolve(enforcing("a") if enforced else recording("a"), checks=evolve(NO_CHECKS, accuracy=(task,)))
    values = {} if score is None else {SCORE.metric: score}
    verdicts = judge_all("gsm8k", [spec], values, {}, {}, invalid)
    block = BlockResult("accuracy", "gsm8k", status, invalid, 60.0, values, (), verdicts)
    return run_of(plan, HEALTHY, blocks=(block,))


@pytest.mark.parametrize(
    ("result", "verdict", "reasons"),
    [
        (accuracy("ok", 0.95), RunVerdict.PASS, ()),
        (
            accuracy("failed", 0.85),
            RunVerdict.FAIL,
            ("accuracy gsm8k: gsm8k.exact_match__strict-match 0.85, not ≥ 0.9 score (-5.6 %)",),
        ),
        (accuracy("failed", 0.85, enforced=False), RunVerdict.RECORDED, ()),
        (
            accuracy("ok", None),
            RunVerdict.FAIL,
            ("accuracy gsm8k: accuracy: none of its 1 metrics is in the artifact",),
        ),
        (
            accuracy("invalid", 0.0, invalid="every score is 0"),
            RunVerdict.FAIL,
            ("accuracy gsm8k: every score is 0",),
        ),
        (
            accuracy("invalid", 0.0, enforced=False, invalid="every score is 0"),
            RunVerdict.INFRASTRUCTURE,
            ("accuracy gsm8k: every score is 0",),
        ),
    ],
)
def test_accuracy_is_judged_by_its_specs(result: RunResult, verdict: RunVerdict, reasons: tuple[str, ...]) -> None:
    assert (result.verdict, result.reasons) == (verdict, reasons)


def test_measurements_of_checks_alone_are_worth_recording() -> None:
    plan = make_plan(enforce_thresholds=False)
    block = check("ok", "gpu_metrics", values={"gpu.power_w": 5600.0})
    assert run_of(plan, blocks=(block,)).verdict is RunVerdict.RECORDED


def test_many_failed_gates_of_one_cell_are_one_reason() -> None:
    metrics = ("mean_ttft_ms", "median_ttft_ms", "p90_ttft_ms", "p95_ttft_ms", "p99_ttft_ms")
    cell = make_cell(*(make_spec(metric, "max_ms", 1) for metric in metrics), id="a")
    (reason,) = run_of(make_plan(cell), HEALTHY).reasons
    assert reason.startswith("a: p99_ttft_ms 236.5, not ≤ 1 ms")
    assert reason.endswith("; and 2 more")
    three = evolve(cell, specs=cell.specs[:3])
    assert " more" not in run_of(make_plan(three), HEALTHY).reasons[0]
