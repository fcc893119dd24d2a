from __future__ import annotations

import pytest
from attrs import evolve
from tests.judging import artifact, make_attempt, make_cell, make_plan, make_result, make_spec

from atomcfg.plan import Spec
from atomrun.cells import judge_cell
from atomrun.gate import judge, tiers
from atomrun.results import RunVerdict
from atomrun.wording import cell_word, counts, headline, headlines, status_word

RESULT = make_result()
TTFT = make_spec("mean_ttft_ms", "max_ms", 200)


def test_a_rehearsal_never_says_pass_or_fail() -> None:
    words = headlines(rehearsal=True)
    assert words.keys() == set(RunVerdict)
    assert all(word.startswith("REHEARSAL: ") for word in words.values())
    assert not any("PASS" in word.upper() or "FAIL" in word for word in words.values())
    assert headline(evolve(RESULT, transport="rehearsal", verdict=RunVerdict.PASS)) == "REHEARSAL: gates held"


def test_a_real_run_says_its_verdict() -> None:
    assert [headline(evolve(RESULT, verdict=verdict)) for verdict in RunVerdict] == [
        item.value for item in RunVerdict
    ]


@pytest.mark.parametrize(
    ("enforced", "rehearsal", "passed", "failed"),
    [
        (True, False, "PASS", "FAIL"),
        (False, False, "RECORD (pass)", "RECORD (fail)"),
        (True, True, "held", "missed"),
        (False, True, "RECORD (held)", "RECORD (missed)"),
    ],
)
def test_the_word_of_a_comparison(enforced: bool, rehearsal: bool, passed: str, failed: str) -> None:
    spec = evolve(TTFT, enforced=enforced)
    assert status_word(judge(spec, {TTFT.metric: 100.0}), rehearsal) == passed
    assert status_word(judge(spec, {TTFT.metric: 300.0}), rehearsal) == failed
    assert status_word(judge(spec, {}), rehearsal) == "SKIPPED"


def word_of(*specs: Spec, **changes: object) -> str:
    cell = make_cell(*specs)
    result = judge_cell(make_plan(cell), cell, make_attempt(artifact(**changes)))
    return cell_word(result, tiers(result.verdicts), rehearsal=False)


def test_the_word_of_a_cell() -> None:
    recorded = evolve(make_spec("output_throughput", "min_tok_s", 9999), enforced=False)
    assert word_of(TTFT) == "PASS"
    assert word_of(TTFT, make_spec("output_throughput", "min_tok_s", 9999)) == "FAIL"
    assert word_of(TTFT, recorded) == "PASS"
    assert word_of(recorded) == "RECORD (fail)"
    assert word_of(evolve(TTFT, enforced=False)) == "RECORD (pass)"
    assert word_of(make_spec("duration", "info")) == "RECORD"
    assert word_of() == "RECORD"
    assert word_of(TTFT, completed=77) == "INVALID"


def test_counts() -> None:
    assert counts(RESULT) == "specs: 40 written, 24 evaluated, 1 skipped, 15 not judged; 5 of them cannot fail"
    plain = evolve(RESULT, specs_written=3, specs_evaluated=3, specs_skipped=0, specs_vacuous=0)
    assert counts(plain) == "specs: 3 written, 3 evaluated, 0 skipped"
