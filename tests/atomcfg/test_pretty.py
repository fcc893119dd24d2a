"""JSON keeps its numbers' spelling and puts on one line what fits there."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atomcfg.pretty import parse, pretty

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=30), inner, max_size=5),
    max_leaves=40,
)


@given(st.dictionaries(st.text(), values))
def test_round_trip(value: dict[str, object]) -> None:
    text = pretty(value)
    assert json.loads(text) == value
    assert pretty(parse(json.dumps(value).encode())) == text


@pytest.mark.parametrize("number", ["0.80", "1e6", "1E+3", "-0.0", "12345678901234567890", "1.0"])
def test_numbers_keep_their_spelling(number: str) -> None:
    assert pretty(parse(f'{{"a": [{number}]}}'.encode())) == f'{{\n  "a": [{number}]\n}}\n'


def test_layout() -> None:
    value = {
        "short": {"a": [1, {"b": None}]},
        "empty": {},
        "none": [],
        "long": {"k" * 50: ["v" * 50, "é"], "b": True},
    }
    assert pretty(value) == (
        '{\n  "short": {"a": [1, {"b": null}]},\n  "empty": {},\n  "none": [],\n  "long": {\n'
        f'    "{"k" * 50}": [\n      "{"v" * 50}",\n      "é"\n    ],\n    "b": true\n  }}\n}}\n'
    )
    assert pretty({}) == "{}\n"


@pytest.mark.parametrize("text", [b"[]", b"{", b"\xff"])
def test_what_is_no_object(text: bytes) -> None:
    with pytest.raises(ValueError):
        parse(text)
