from __future__ import annotations

import json
from pathlib import Path

import pytest

from atomcfg import metrics
from atomrun.artifacts import ArtifactError, Fault
from atomrun.artifacts.lm_eval import implausible, parse

DATA = Path(__file__).resolve().parent.parent.parent / "data" / "clients" / "lm_eval"
NO_RESULTS = 'no object "results" in the file'


def document(results: object, **more: object) -> str:
    return json.dumps({"results": results, "versions": {"gsm8k": 3.0}, "lm_eval_version": "0.4.13", **more})


def test_scores_are_named_by_task_metric_and_filter() -> None:
    scores = parse((DATA / "groups.json").read_text())
    assert scores.values["gsm8k.exact_match__flexible-extract"] == 0.9
    assert scores.values["gsm8k.exact_match_stderr__strict-match"] == 0.06882472016116853
    assert scores.values["mmlu_pro.exact_match__custom-extract"] == 0.55
    assert all(metrics.find(name) for name in scores.values)


def test_what_a_threshold_does_not_state_is_kept_beside_the_scores() -> None:
    scores = parse((DATA / "groups.json").read_text())
    assert scores.lm_eval_version == "0.4.13"
    assert scores.model == "deepseek-ai/DeepSeek-R1-0528"
    assert scores.versions["gsm8k"] == "3.0"
    assert scores.versions["bbh"] == "3.0"
    assert scores.samples["mmlu_pro_math"] == (10, 10)
    assert "mmlu_pro" not in scores.samples


def test_both_filters_of_a_task_are_kept() -> None:
    text = document({"gsm8k": {"exact_match,strict-match": 0.0, "exact_match,flexible-extract": 0.95}})
    assert parse(text).values == {
        "gsm8k.exact_match__strict-match": 0.0,
        "gsm8k.exact_match__flexible-extract": 0.95,
    }


def test_everything_else_is_dropped_and_listed() -> None:
    text = """{"results": {"t": {
        "alias": " - t", "name": "t", "sample_len": 5, "sample_count": {"acc,none": 5},
        "acc,none": 0.5, "acc_stderr,none": "N/A", "x": Infinity, "f1,none": NaN, "ok,none": true,
        "bypass,none": 999, "mcc,none": -0.25}, "broken": 5}}"""
    scores = parse(text)
    assert scores.values == {"t.acc__none": 0.5, "t.mcc__none": -0.25}
    assert scores.dropped == {
        "t.acc_stderr__none": 'not a number: "N/A"',
        "t.x": "no filter is named",
        "t.f1__none": "not finite: nan",
        "t.ok__none": "not a number: true",
        "t.bypass__none": "nothing was scored (--predict_only)",
    }
    assert scores.lm_eval_version == scores.model == ""
    assert scores.samples == scores.versions == {}


def test_samples_that_are_no_counts_are_left_out() -> None:
    counts = {"a": {"original": 1319, "effective": 5}, "b": {"original": "1319", "effective": 5}, "c": 7}
    assert parse(document({}, **{"n-samples": counts})).samples == {"a": (5, 1319)}


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("", Fault.EMPTY, "the artifact is empty"),
        ('{"results": {"gsm8k": {"alias"', Fault.TRUNCATED, "the artifact breaks off after 30 characters"),
        ('{"result": {}, "versions": {}}', Fault.SCHEMA_CHANGED, f'{NO_RESULTS}, nearest is "result"'),
        ('{"results": [], "versions": {}}', Fault.SCHEMA_CHANGED, f'{NO_RESULTS}, nearest is "results"'),
        ('{"date": "now"}', Fault.WRONG_RECORD, f"{NO_RESULTS}, nothing similar is there"),
    ],
)
def test_other_files_are_refused(text: str, kind: Fault, message: str) -> None:
    with pytest.raises(ArtifactError) as caught:
        parse(text)
    assert (caught.value.kind, caught.value.message) == (kind, message)
    assert caught.value.hint


def scores_of(**tasks: float) -> str:
    return implausible(parse(document({task: {"acc,none": value} for task, value in tasks.items()})))


def test_uniform_scores_are_the_harness() -> None:
    """Every task at zero, or all at one figure, says that the answers were not read."""
    assert scores_of(gsm8k=0.0, bbh=0.0).startswith("every score is 0: inspect the samples")
    assert scores_of(a=0.25, b=0.25, c=0.25, d=0.25) == "4 tasks have one and the same score: inspect the samples"


def test_real_scores_may_hold_a_zero_or_agree_by_chance() -> None:
    assert scores_of(gsm8k=0.0, bbh=0.4) == ""
    assert scores_of(a=0.25, b=0.25, c=0.25) == ""
    assert scores_of(a=0.25, b=0.25, c=0.25, d=0.26) == ""
    assert scores_of() == ""
    assert implausible(parse((DATA / "groups.json").read_text())) == ""


def test_a_standard_error_is_no_score() -> None:
    text = document({"t": {"acc,none": 0.0, "acc_stderr,none": 0.1}})
    assert implausible(parse(text)).startswith("every score is 0")
