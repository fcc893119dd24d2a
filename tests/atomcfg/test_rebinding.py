"""Another threshold file for a plan, and what a threshold file leaves open."""

from __future__ import annotations

import json
from typing import Any

from attrs import evolve
from tests.judging import NO_CHECKS, make_cell, make_plan, make_spec

from atomcfg.documents import Source
from atomcfg.metrics import GATED
from atomcfg.plan import AccuracyTask, MtpQuality, NeedleCell, QuantParity
from atomcfg.rebinding import gaps_of, rebind

KEY = "ISL=1024,OSL=1024,TP=8,PP=1,CONC=16"
TTFT = {"mean_ttft_ms": {"kind": "max_ms", "value": 250}}
SCORE, RATE, ACCEPTED, PROBE = (
    "gsm8k.exact_match__none",
    "accuracy.niah_pass_rate__n1",
    "mtp.acceptance_rate",
    "quant_parity.probe_match",
)
PLAN = make_plan(
    make_cell(make_spec("output_throughput", "min_tok_s", 1)),
    make_cell(make_spec("output_throughput", "min_tok_s", 1), id="other", key=KEY.replace("16", "32")),
    checks=evolve(
        NO_CHECKS,
        accuracy=(AccuracyTask("gsm8k", "gsm8k", (), (), "d", 60, ()),),
        long_context=(NeedleCell("n1", 1024, 64, 4, 0, ()),),
        mtp_quality=MtpQuality("", "", True, ()),
        quant_parity=QuantParity("p", "", ()),
    ),
)


def source(document: Any) -> Source:
    return Source("threshold", "new.json", json.dumps(document, indent=1).encode())


def floor(metric: str) -> dict[str, Any]:
    return {metric: {"kind": "min", "value": 0.5}}


def test_cells_and_checks_get_the_specs_of_the_file() -> None:
    document = {
        "CONC=16, ISL=1024,OSL=1024,TP=8,PP=1": TTFT,
        "accuracy": {"gsm8k": floor(SCORE)},
        "long_context_accuracy": {"n1": floor(RATE)},
        "mtp_quality": floor(ACCEPTED),
        "quant_parity": floor(PROBE),
    }
    bound = rebind(PLAN, source(document)).value
    assert bound is not None
    first, other = bound.cells
    assert [(spec.metric, spec.kind, spec.value, spec.enforced) for spec in first.specs] == [
        ("mean_ttft_ms", "max_ms", 250.0, True)
    ]
    assert other.specs == ()
    checks = bound.checks
    assert checks.mtp_quality is not None
    assert checks.quant_parity is not None
    owners = (*checks.accuracy, *checks.long_context, checks.mtp_quality, checks.quant_parity)
    assert [spec.metric for owner in owners for spec in owner.specs] == [SCORE, RATE, ACCEPTED, PROBE]
    assert bound.provenance.lines_of(first.id) == {f"{first.id}/mean_ttft_ms": "new.json:3"}
    assert bound.digest == PLAN.digest


def test_a_plan_that_records_only_still_does() -> None:
    bound = rebind(evolve(PLAN, enforce_thresholds=False), source({KEY: TTFT})).value
    assert bound is not None
    assert not bound.cells[0].specs[0].enforced


def test_a_file_with_profiles_is_read_at_the_plans() -> None:
    bound = rebind(PLAN, source({"profiles": {"perf": {KEY: TTFT}, "other": {}}})).value
    assert bound is not None
    assert len(bound.cells[0].specs) == 1


def test_a_plan_without_checks_has_none() -> None:
    bound = rebind(evolve(PLAN, checks=NO_CHECKS), source({"mtp_quality": floor(ACCEPTED)})).value
    assert bound is not None
    assert bound.checks == NO_CHECKS


def test_what_is_wrong_with_the_file_is_told() -> None:
    for data, code in ((b"{", "A1"), (b'{"x": 1}', "A2"), (json.dumps({KEY: floor("nonsense")}).encode(), "A811")):
        found = rebind(PLAN, Source("threshold", "new.json", data))
        assert found.value is None
        assert any(item.code.startswith(code) for item in found.diagnostics), code


def test_gaps_are_bounds_that_cannot_fail_and_gated_metrics_without_one() -> None:
    table = {"mean_ttft_ms": {"kind": "max_ms", "value": 1e6}, "p99_ttft_ms": {"kind": "info"}}
    (gaps,) = gaps_of(source({KEY: table})).value or ()
    assert (gaps.key, gaps.profile, gaps.written) == (KEY, "", 2)
    assert gaps.vacuous == (("new.json:3", "mean_ttft_ms", "max_ms", 1e6),)
    assert gaps.recorded == ("p99_ttft_ms",)
    assert set(gaps.missing) == set(GATED) - {"mean_ttft_ms", "p99_ttft_ms"}


def test_gaps_of_every_profile_and_of_no_file() -> None:
    found = gaps_of(source({"profiles": {"_note": 1, "a": {KEY: TTFT}, "b": {KEY: TTFT}}})).value or ()
    assert [gaps.profile for gaps in found] == ["a", "b"]
    assert gaps_of(Source("threshold", "x", b"[")).value is None
