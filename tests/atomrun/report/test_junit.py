from __future__ import annotations

from typing import Any

import junitparser
import pytest
from attrs import evolve
from tests.judging import make_result, make_spec, mixed_plan

from atomrun.gate import judge_all
from atomrun.report.junit import junit
from atomrun.results import BlockResult, RunResult, RunVerdict

RESULT = make_result()
STEM = "mi3xx_atom_model_fp8_single"


def cases(result: RunResult) -> dict[tuple[str, str], Any]:
    """(class name without the stem, name) to the ending; None for a passed case."""
    (suite,) = junitparser.JUnitXml.fromstring(junit(result))
    found = {}
    for case in suite:
        owner = case.classname.removeprefix(STEM).removeprefix(".")
        found[owner, case.name] = case.result[0] if case.result else None
    return found


def kind(ending: Any) -> str:
    return "passed" if ending is None else type(ending).__name__.lower()


def test_a_case_per_cell_and_tier_and_per_check() -> None:
    found = {place: kind(ending) for place, ending in cases(RESULT).items()}
    assert {name: ending for (owner, name), ending in found.items() if owner == "balanced0-conc32"} == {
        "validity": "passed",
        "throughput": "failure",
        "ttft": "passed",
        "tpot": "passed",
        "latency": "passed",
        "health": "passed",
        "record": "skipped",
    }
    assert found["balanced0-conc128", "validity"] == "failure"
    assert found["balanced0-conc128", "health"] == "failure"
    assert found["balanced0-conc128", "ttft"] == "skipped"
    assert found["balanced0-conc256", "validity"] == "error"
    assert found["functional", "api_smoke"] == "passed"
    assert found["dmesg", "10.0.0.1"] == "skipped"
    assert found["stages", "stop"] == "error"
    assert found["", "verdict"] == "error"


def test_endings_say_why() -> None:
    found = cases(RESULT)
    assert found["balanced0-conc32", "throughput"].message == "FAIL"
    assert found["balanced0-conc32", "throughput"].text.startswith("output_throughput 2,500, not ≥ 3,000 tok/s")
    assert found["balanced0-conc128", "validity"].message.startswith("3 requests failed of 80")
    assert found["", "verdict"].message == "INFRASTRUCTURE"
    assert "1 process is left" in found["", "verdict"].text


def test_an_accuracy_task_is_judged_in_a_case_of_its_own() -> None:
    spec = make_spec("gsm8k.exact_match__strict-match", "min", 0.9)
    for status, values, ending in (
        ("ok", {spec.metric: 0.95}, "passed"),
        ("failed", {spec.metric: 0.8}, "failure"),
    ):
        verdicts = judge_all("gsm8k", [spec], values, {}, {})
        block = BlockResult("accuracy", "gsm8k", status, "", 60.0, values, (), verdicts)
        found = cases(evolve(RESULT, blocks=(block,)))
        assert kind(found["accuracy", "gsm8k"]) == ending
        assert kind(found["accuracy.gsm8k", "accuracy"]) == ending


def test_a_tier_without_measurements_says_so() -> None:
    verdicts = judge_all("c", [make_spec("mean_tpot_ms", "max_ms", 5)], {}, {}, {})
    cell = evolve(RESULT.cells[0], verdicts=verdicts)
    ending = cases(evolve(RESULT, cells=(cell,)))["balanced0-conc16", "tpot"]
    assert (kind(ending), ending.message) == ("failure", "FAIL: none of its 1 metrics is in the artifact")


@pytest.mark.parametrize(
    ("verdict", "ending"),
    [
        (RunVerdict.PASS, "passed"),
        (RunVerdict.RECORDED, "passed"),
        (RunVerdict.FAIL, "failure"),
        (RunVerdict.NO_VERDICT, "error"),
        (RunVerdict.INTERRUPTED, "error"),
    ],
)
def test_the_run_itself_is_a_case(verdict: RunVerdict, ending: str) -> None:
    assert kind(cases(evolve(RESULT, verdict=verdict))["", "verdict"]) == ending


def test_what_is_only_recorded_is_skipped() -> None:
    found = cases(make_result(mixed_plan(enforced=False)))
    assert found["balanced0-conc32", "throughput"].message == "RECORD (fail)"
    assert found["balanced0-conc16", "throughput"].message == "RECORD (pass)"
    assert {kind(found["balanced0-conc32", tier]) for tier in ("throughput", "ttft", "health")} == {"skipped"}


def test_nothing_of_a_rehearsal_passes() -> None:
    result = evolve(RESULT, transport="rehearsal", verdict=RunVerdict.PASS)
    found = cases(result)
    assert "passed" not in {kind(ending) for ending in found.values()}
    assert found["", "verdict"].message.startswith("REHEARSAL: ")
    assert found["balanced0-conc32", "throughput"].message == "missed"
    (suite,) = junitparser.JUnitXml.fromstring(junit(result))
    assert suite.name == f"REHEARSAL atomrun {STEM} perf"


def test_the_counts_of_the_suite_add_up() -> None:
    (suite,) = junitparser.JUnitXml.fromstring(junit(RESULT))
    endings = [kind(ending) for ending in cases(RESULT).values()]
    counted = (suite.tests, suite.failures, suite.errors, suite.skipped)
    assert counted == (len(endings), *(endings.count(name) for name in ("failure", "error", "skipped")))


def test_hostile_text_stays_text() -> None:
    cell = evolve(RESULT.cells[3], id="]]><x>\x1b\x00&\ufffe", reason="\ud800 & <b>")
    found = cases(evolve(RESULT, cells=(cell,)))
    assert found["]]><x>␛␀&\\ufffe", "validity"].message == "\\ud800 & <b>"
