"""The published schemas mean the same to another validator: editors and CI jobs use theirs, not ours.

The compiler decides and explains with jsonschema-rs alone. Two validators would disagree at the edges: for Python's
`re`, `$` also matches before a newline, so that `"8\\n"` is an integer to it, and `1e400` is a number as any other.
"""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
import referencing
from referencing.jsonschema import DRAFT202012

from atomcfg.dialect import dialect_of
from atomcfg.documents import Document
from atomcfg.passes.check import check
from atomcfg.schemas import load_schema, schema_names

from .compiling import DATA

FILES = sorted(path for folder in ("cvs", "cvs-older") for path in (DATA / folder).glob("*.json"))


def role(name: str, value: object) -> str:
    if name.endswith("threshold.json"):
        return "threshold"
    return "cluster" if name.endswith("cluster.json") else f"config-{dialect_of(value)}"


def other(name: str) -> Any:
    registry: Any = referencing.Registry().with_resources(
        (f"{known}.schema.json", DRAFT202012.create_resource(load_schema(known))) for known in schema_names()
    )
    return jsonschema.Draft202012Validator({"$ref": f"{name}.schema.json"}, registry=registry)


@pytest.mark.parametrize("name", schema_names())
def test_every_schema_is_one(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(load_schema(name))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_real_files_are_valid_to_both(path: Any) -> None:
    value = json.loads(path.read_text())
    name = role(path.name, value)
    assert check(Document(value, {}), name) == ()
    assert list(other(name).iter_errors(value)) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_stray_key_is_invalid_to_both(path: Any) -> None:
    value = json.loads(path.read_text()) | {"stray": 1}
    name = role(path.name, value)
    assert [item.code for item in check(Document(value, {}), name)] == ["A201"]
    assert [error.validator for error in other(name).iter_errors(value)] == ["additionalProperties"]
