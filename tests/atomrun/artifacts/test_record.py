from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atomrun.artifacts import FORMATS, ArtifactError, Fault, parse
from atomrun.artifacts.lm_eval import parse as parse_scores
from atomrun.artifacts.record import finite, json_text, read_record, split_records

BROKEN = {
    "": (Fault.EMPTY, "the artifact is empty"),
    " \n\t": (Fault.EMPTY, "the artifact is empty"),
    "Killed\n": (Fault.NOT_JSON, "the artifact is not JSON: Expecting value at line 1, column 1"),
    '{"a": 1,}': (Fault.NOT_JSON, "the artifact is not JSON: "),
    '{"a": 1} trailing': (Fault.NOT_JSON, "the artifact is not JSON: Extra data at line 1, column 10"),
    '{"a": 1': (Fault.TRUNCATED, "the artifact breaks off after 7 characters"),
    '{"a": [1, 2': (Fault.TRUNCATED, "the artifact breaks off after 11 characters"),
    '{"a": "te': (Fault.TRUNCATED, "the artifact breaks off after 9 characters"),
    '{"a": "one \\" {two": {"b": 1}}': (Fault.NOT_JSON, "the artifact is not JSON: "),
    '{"a": {"b": "}}"}': (Fault.TRUNCATED, "the artifact breaks off after 17 characters"),
    '{"a": 1}\n{"a": 2}': (Fault.SEVERAL_RECORDS, "the artifact holds more than one record"),
    '{"a": 1}{"a": 2': (Fault.SEVERAL_RECORDS, "the artifact holds more than one record"),
    '{"a": 1, "b": 2, "a": 1}': (Fault.AMBIGUOUS, 'the artifact holds "a" twice'),
    '{"a": {"b": 2, "b": 3}}': (Fault.AMBIGUOUS, 'the artifact holds "b" twice'),
    "[]": (Fault.WRONG_RECORD, "expected a JSON object at the top of the artifact, got list"),
    "null": (Fault.WRONG_RECORD, "expected a JSON object at the top of the artifact, got NoneType"),
    '"text"': (Fault.WRONG_RECORD, "expected a JSON object at the top of the artifact, got str"),
    "[" * 100_000: (Fault.NOT_JSON, "the artifact is nested too deeply to be a result"),
}


@pytest.mark.parametrize(("text", "fault"), BROKEN.items(), ids=[text[:24] for text in BROKEN])
def test_broken_text_says_what_is_wrong(text: str, fault: tuple[Fault, str]) -> None:
    with pytest.raises(ArtifactError) as caught:
        read_record(text)
    assert caught.value.kind is fault[0]
    assert caught.value.message.startswith(fault[1])
    assert caught.value.hint


def test_whole_text_is_read_with_its_odd_numbers() -> None:
    record = read_record('{"a": NaN, "b": Infinity, "c": 6.1e-01, "d": ' + "9" * 5000 + ', "e": 1e999}')
    assert math.isnan(float(str(record["a"])))
    assert record["b"] == record["d"] == record["e"] == math.inf
    assert record["c"] == 0.61


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (0, 0.0),
        (12, 12.0),
        (0.61, 0.61),
        (None, "null in the artifact"),
        (True, "not a number in the artifact: true"),
        ("1,234", 'not a number in the artifact: "1,234"'),
        ([1], "not a number in the artifact: [1]"),
        (math.nan, "not finite in the artifact: nan"),
        (-math.inf, "not finite in the artifact: -inf"),
        (-0.5, "negative in the artifact: -0.5"),
    ],
)
def test_only_finite_numbers_that_are_not_negative_count(raw: object, expected: float | str) -> None:
    assert finite(raw) == expected


def test_long_text_in_place_of_a_number_is_cut() -> None:
    assert len(str(finite("x" * 10_000))) < 100


def test_any_value_becomes_valid_json() -> None:
    text = json_text({"rate": math.inf, "list": [math.nan, {"deep": -math.inf}], "word": "ü"})
    found = json.loads(text, parse_constant=pytest.fail)
    assert found == {"rate": "inf", "list": ["nan", {"deep": "-inf"}], "word": "ü"}


def test_lines_that_hold_something() -> None:
    assert split_records('{"a": 1}\n\n  \n{"b": 2}\n') == ('{"a": 1}', '{"b": 2}')


@given(text=st.text() | st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists).map(json.dumps))
def test_no_text_ends_in_anything_but_a_reading_or_an_artifact_error(text: str) -> None:
    for form in FORMATS:
        with pytest.raises(ArtifactError):
            parse(form, text)
    with pytest.raises(ArtifactError):
        parse_scores(text)
