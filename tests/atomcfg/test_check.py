"""Every fault of shape: what is said, where, and only once. The cases are data, in passes/check/."""

from __future__ import annotations

import datetime
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atomcfg.diagnostics import Diagnostic, Severity
from atomcfg.documents import Document, Origin
from atomcfg.passes.check import check
from atomcfg.schemas import schema_names

KEY = "ISL=1024,OSL=1024,TP=8,PP=1,CONC=128"


def cases(name: str) -> list[Any]:
    path = Path(__file__).parent / "passes" / "check" / f"{name}.json"
    data = json.loads(path.read_text("utf-8"))
    found = []
    for case in data["cases"]:
        base = data["bases"].get(case.get("base"), {})
        value = {**base, **case["value"]} if base else case["value"]
        found.append(pytest.param(case["schema"], value, case.get("faults", []), id=json.dumps(case["value"])[:60]))
    return found


def document(text: str) -> Document:
    return Document(json.loads(text), {(): Origin("input.json", text)})


def line(item: Diagnostic) -> str:
    """`code path: summary (hint)`."""
    return f"{item.code} {item.span.path}: {item.summary}" + (f" ({item.hint})" if item.hint else "")


@pytest.mark.parametrize(("schema", "value", "expected"), [*cases("accepted"), *cases("refused")])
def test_shape(schema: str, value: object, expected: list[str]) -> None:
    found = check(document(json.dumps(value)), schema)
    assert [line(item) for item in found] == expected
    assert all(item.severity is Severity.ERROR for item in found)


def test_a_number_beyond_a_double() -> None:
    text = json.dumps({KEY: {"output_throughput": {"kind": "min", "value": 999}}}).replace("999", "1e999")
    assert [item.summary for item in check(document(text), "threshold")] == [
        "expected a number, found a number that is too large"
    ]


def test_faults_point_at_the_key_or_the_value() -> None:
    text = '{\n  "username": "a b",\n  "nod_dict": {},\n  "head_node_dict": {}\n}'
    found = check(document(text), "cluster")
    places = {(item.code, item.span.line, item.span.column, item.span.end_column) for item in found}
    assert places == {("A224", 2, 15, 20), ("A201", 3, 3, 13), ("A202", 4, 3, 19)}


def test_what_json_cannot_hold_is_reported_first() -> None:
    text = 'stem = 1\n[set]\n"a" = 2026-01-01\n"b" = 8.0\n'
    lab = Document(tomllib.loads(text), {(): Origin("lab.toml", text)})
    assert [(item.code, item.summary, item.span.line) for item in check(lab, "lab")] == [
        ("A207", "a date is no value here", 3)
    ]


@pytest.mark.parametrize("value", [{"_c": "\ud800"}, {"\ud800": 1}])
def test_half_a_surrogate_pair(value: object) -> None:
    found = check(document(json.dumps(value)), "config-flat")
    assert [item.summary for item in found] == ["the text holds half of a surrogate pair"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
known_keys = st.sampled_from(
    ["params", "sweep", "container", "profiles", "accuracy", "roles", "node_dict", KEY, "set"]
)


@given(st.dictionaries(known_keys | st.text(), json_values, max_size=4), st.sampled_from(schema_names()))
def test_no_value_is_too_odd(value: dict[str, object], schema: str) -> None:
    """Whatever was parsed, the answer is diagnostics: never a traceback, never silence about an odd value."""
    found = check(Document(value, {}), schema)
    assert all(item.summary for item in found)
    if any(isinstance(inner, datetime.date) for inner in value.values()):
        assert found
