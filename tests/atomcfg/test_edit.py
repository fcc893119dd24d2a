"""Changes to JSON values leave the old value alone and keep the places of what was written."""

from __future__ import annotations

import json

import pytest

from atomcfg.documents import Document, JsonPath, Origin
from atomcfg.edit import merge, place, rewrite

OLD = {"a": {"b": [1, {"c": 2}]}, "d": None}


@pytest.mark.parametrize(
    ("path", "made"),
    [
        ((), 9),
        (("a",), {"a": 9, "d": None}),
        (("a", "b", 0), {"a": {"b": [9, {"c": 2}]}, "d": None}),
        (("a", "b", 1, "c"), {"a": {"b": [1, {"c": 9}]}, "d": None}),
        (("d", "e"), {"a": {"b": [1, {"c": 2}]}, "d": {"e": 9}}),
        (("x", "y", "z"), {**OLD, "x": {"y": {"z": 9}}}),
    ],
)
def test_place(path: JsonPath, made: object) -> None:
    before = json.dumps(OLD)
    assert place(OLD, path, 9) == made
    assert json.dumps(OLD) == before


@pytest.mark.parametrize(
    "path", [("a", 0), ("a", "b", "c"), ("a", "b", 2), ("a", "b", 0, "x"), ("a", "b", 1, "c", 0)]
)
def test_a_path_that_does_not_fit(path: JsonPath) -> None:
    assert place(OLD, path, 9) is None


def test_none_can_be_placed() -> None:
    assert place(OLD, ("a", "b", 0), None) == {"a": {"b": [None, {"c": 2}]}, "d": None}
    assert place(OLD, ("a",), None) == {"a": None, "d": None}


def test_merge() -> None:
    origins = {(): Origin("base", "x"), ("a", "b"): Origin("lab", "y")}
    made = merge(OLD, {"a": {"b": [3], "n": 4}}, (), origins, Origin("over", "z"))
    assert made == {"a": {"b": [3], "n": 4}, "d": None}
    assert origins == {
        (): Origin("base", "x"),
        ("a", "b"): Origin("over", "z", ("a", "b")),
        ("a", "n"): Origin("over", "z", ("a", "n")),
    }


def test_rewrite_changes_keys_and_values_but_no_comment() -> None:
    text = '{"<k>": ["<v>", 1, true], "_<k>": "<v>", "plain": {}}'
    document = Document(json.loads(text), {(): Origin("f", text)}, {("plain",): "other"})
    made = rewrite(document, lambda word, _: word.replace("<k>", "key").replace("<v>", "value"), "<")
    assert made.value == {"key": ["value", 1, True], "_<k>": "<v>", "plain": {}}
    assert made.names == document.names
    assert (made.span(("key",), key=True).column, made.span(("key", 0)).column) == (2, 10)
