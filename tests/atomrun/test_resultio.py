from __future__ import annotations

import json
import math
from typing import Any

import jsonschema_rs
import pytest
from attrs import evolve
from tests.judging import make_result

from atomcfg.schemas import load_schema
from atomrun.resultio import ResultError, dump, load
from atomrun.results import BlockResult, RunResult, RunVerdict, Status

SCHEMA = jsonschema_rs.validator_for(load_schema("results"))
RESULT = make_result()
TRANSPORTS = ("ssh", "local", "rehearsal")


def faults(result: RunResult) -> list[str]:
    return [error.message for error in SCHEMA.iter_errors(json.loads(dump(result)))]


def test_the_result_of_these_tests_has_something_of_everything() -> None:
    statuses = {verdict.status for cell in RESULT.cells for verdict in cell.verdicts}
    assert statuses == set(Status)
    assert len({cell.state for cell in RESULT.cells}) == 3
    assert RESULT.blocks
    assert RESULT.stages


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_what_is_written_is_read_back(transport: str) -> None:
    result = evolve(RESULT, transport=transport)
    assert load(dump(result)) == result
    assert dump(load(dump(result))) == dump(result)


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("verdict", RunVerdict)
def test_every_verdict_fits_the_schema(transport: str, verdict: RunVerdict) -> None:
    result = evolve(RESULT, transport=transport, verdict=verdict)
    assert faults(result) == []
    assert load(dump(result)).verdict is verdict


def test_nothing_of_a_rehearsal_reads_pass_or_fail() -> None:
    for verdict in RunVerdict:
        document = json.loads(dump(evolve(RESULT, transport="rehearsal", verdict=verdict)))
        assert document["rehearsal"] is True
        assert document["verdict"].startswith("REHEARSAL: ")
        statuses = {item["status"] for cell in document["cells"] for item in cell["verdicts"]}
        assert statuses == {"REHEARSAL HELD", "REHEARSAL MISSED", "INFO", "SKIPPED", "INVALID"}


def test_the_schema_refuses_a_rehearsal_that_passes() -> None:
    document = json.loads(dump(evolve(RESULT, transport="rehearsal")))
    for change in ({"verdict": "PASS"}, {"rehearsal": False}):
        assert not SCHEMA.is_valid(document | change)
    document["cells"][0]["verdicts"][0]["status"] = "PASS"
    assert not SCHEMA.is_valid(document)
    assert not SCHEMA.is_valid(json.loads(dump(RESULT)) | {"verdict": "REHEARSAL: gates held"})


def test_the_text_is_canonical() -> None:
    text = dump(RESULT)
    assert text == json.dumps(json.loads(text), indent=1, sort_keys=True) + "\n"
    assert text.isascii()


def test_numbers_that_are_not_finite_are_null_with_a_reason() -> None:
    cell = RESULT.cells[0]
    verdict = evolve(cell.verdicts[0], actual=math.nan, bound=math.inf, margin_pct=-math.inf, reason="")
    kept = evolve(verdict, reason="said before")
    cell = evolve(cell, values={"duration": 1.0, "goodput": math.inf}, missing={}, verdicts=(verdict, kept))
    block = BlockResult("gpu_metrics", "10.0.0.1", "ok", "", 1.0, {"gpu.power_w": math.nan}, ("5 samples",), ())
    result = evolve(RESULT, cells=(cell,), blocks=(block,))
    assert faults(result) == []
    document = json.loads(dump(result), parse_constant=pytest.fail)
    (written,) = document["cells"]
    assert (written["values"], written["missing"]) == ({"duration": 1.0}, {"goodput": "not finite: inf"})
    for item, reason in zip(written["verdicts"], ("actual is not finite: nan", "said before"), strict=True):
        assert (item["actual"], item["bound"], item["margin_pct"], item["reason"]) == (None, None, None, reason)
    assert document["blocks"][0]["details"] == ["5 samples", "gpu.power_w is not finite: nan"]


def changed(**changes: Any) -> str:
    return json.dumps(json.loads(dump(RESULT)) | changes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON: Expecting value: line 1 column 1"),
        ("[]", "schema_version is None, this version reads 1"),
        (changed(schema_version=2), "schema_version is 2, this version reads 1"),
        ('{"schema_version": 1}', "not a result: KeyError('transport')"),
        (changed(cells=[5]), "not a result: TypeError"),
        (changed(verdict="MAYBE"), "@ $.verdict"),
        (changed(seconds="long"), "@ $.seconds"),
        (changed(surprise=1), "extra fields found (surprise) @ $"),
    ],
)
def test_other_text_is_refused_with_the_place(text: str, message: str) -> None:
    with pytest.raises(ResultError) as caught:
        load(text)
    assert message in str(caught.value)


def test_schema_and_model_agree() -> None:
    document = json.loads(dump(RESULT))
    stated: dict[str, Any] = load_schema("results")
    definitions = stated["$defs"]
    assert stated["required"] == list(stated["properties"])
    assert set(stated["properties"]) == document.keys()
    for name, example in (
        ("CellResult", document["cells"][0]),
        ("Verdict", document["cells"][0]["verdicts"][0]),
        ("BlockResult", document["blocks"][0]),
        ("StageResult", document["stages"][0]),
    ):
        assert set(definitions[name]["required"]) == set(definitions[name]["properties"]) == example.keys()
