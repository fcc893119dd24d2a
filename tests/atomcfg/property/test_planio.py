"""A plan's text is read back as it was written, or refused: no change of it goes unseen."""

from __future__ import annotations

import hashlib
import json
from copy import deepcopy
from functools import cache
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from atomcfg import Plan, PlanError, dump_plan, load_plan

from ..compiling import compile_shipped  # noqa: TID252  # it lies one folder up
from .mutations import CHANGES, ODD, places, values

NAME = "mi3xx_atom_qwen3.5-397b-a17b_fp8_single.json"
documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(("plan_version", "seal", "digest", "cells")) | st.text(max_size=3), inner)
    ),
    max_leaves=10,
)


@cache
def written() -> str:
    plan = compile_shipped("cvs", NAME).plan
    assert plan is not None
    return dump_plan(plan)


def refused(text: str) -> bool:
    try:
        load_plan(text)
    except PlanError as error:
        return bool(str(error) and error.hint)
    return False


def sealed(document: Any) -> str:
    """The text of a document with the seal that fits it."""
    bare = json.dumps({**document, "seal": ""}, sort_keys=True, separators=(",", ":"))
    seal = hashlib.sha256(bare.encode()).hexdigest()
    return json.dumps({**document, "seal": seal}, sort_keys=True, separators=(",", ":")) + "\n"


def test_round_trip() -> None:
    plan = load_plan(written())
    assert isinstance(plan, Plan)
    assert dump_plan(plan) == written()
    assert sealed(json.loads(written())) == written()


@given(st.data())
def test_any_changed_byte_is_refused(data: st.DataObject) -> None:
    text = written()
    at = data.draw(st.integers(0, len(text) - 1))
    new = data.draw(st.characters(max_codepoint=126).filter(lambda character: character != text[at]))
    assert refused(text[:at] + new + text[at + 1 :])


@given(st.data())
def test_any_cut_or_addition_is_refused(data: st.DataObject) -> None:
    text = written()
    at = data.draw(st.integers(0, len(text) - 1))
    more = data.draw(st.text(min_size=1, max_size=3))
    assert refused(text[:at])
    assert refused(text[:at] + more + text[at:])


@given(documents)
def test_any_json_is_refused(document: Any) -> None:
    assert refused(json.dumps(document))
    if isinstance(document, dict):
        assert refused(sealed({**document, "plan_version": json.loads(written())["plan_version"]}))


@given(st.data())
def test_a_changed_document_with_a_fitting_seal_is_a_plan_or_refused(data: st.DataObject) -> None:
    """The seal shows accidents, not malice: whatever it covers, the answer is a whole plan or a refusal."""
    document = deepcopy(json.loads(written()))
    place = data.draw(st.sampled_from(tuple(places(document))))
    data.draw(st.sampled_from(CHANGES))(document, place, data.draw(values))
    text = sealed(document)
    assert refused(text) or isinstance(load_plan(text), Plan)


def test_odd_values_in_every_place() -> None:
    assert all(refused(json.dumps(value)) for value in ODD)
