"""Plans as documents: what is sealed but no plan is refused, with the place of the fault."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from attrs import evolve

from atomcfg.plan import InputFile, Plan, SecretRef
from atomcfg.planio import PlanError, as_document, dump_plan, load_plan

from .compiling import compile_shipped

NAME = "mi3xx_atom_deepseek-r1_fp8_single.json"
Document = dict[str, Any]


@cache
def plan() -> Plan:
    made = compile_shipped("cvs", NAME).plan
    assert made is not None
    return made


def sealed(document: Document) -> str:
    """A document's text with a seal that fits, as somebody might make who knows how."""

    def text() -> str:
        return json.dumps(document, sort_keys=True, separators=(",", ":"))

    document["seal"] = ""
    document["seal"] = hashlib.sha256(text().encode()).hexdigest()
    return text() + "\n"


def _set(*path: str | int, to: object) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        here: Any = document
        for step in path[:-1]:
            here = here[step]
        here[path[-1]] = to

    return change


def _drop(*path: str | int) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        here: Any = document
        for step in path[:-1]:
            here = here[step]
        del here[path[-1]]

    return change


def test_a_sealed_document_is_read() -> None:
    assert sealed(as_document(plan())) == dump_plan(plan())
    assert load_plan(dump_plan(plan())) == plan()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_drop("cells"), "cells"),
        (_drop("gates"), "gates"),
        (_set("cells", 0, "more", to=1), "cells have the keys"),
        (_drop("cells", 0, "isl"), "cells have the keys"),
        (_set("cells", 0, "command", to=7), r"plan\.cells\[0\]: no entry 7"),
        (_set("cells", 0, "command", to=-1), "no entry -1"),
        (_set("cells", 0, "sheet", to=99), "no entry 99"),
        (_set("cells", 0, "words", to=[]), "zip"),
        (_set("cells", 0, "values", to=[1.0]), "zip"),
        (_set("cells", 0, "values", 0, to="fast"), "expected float, found str"),
        (_set("cells", 0, "isl", to="1024"), r"expected int @ plan\.cells\[0\]\.isl"),
        (_set("cells", 0, "isl", to=True), r"expected int @ plan\.cells\[0\]\.isl"),
        (_set("cells", 0, "words", 0, to=5), "expected a token, found int"),
        (_set("cells", 0, "artifact", "directory", to={"parts": [3]}), r"plan\.cells\[0\]\.artifact\.directory"),
        (_set("cells", 0, "artifact", "directory", to={"bind": "x"}), r"plan\.cells\[0\]\.artifact\.directory"),
        (_set("cells", to=5), "int"),
        (_set("gates", 0, "unit", to=None), r"expected str @ plan\.gates\[0\]\.unit"),
        (_set("sheets", 0, 0, to=99), "no entry 99"),
        (_set("sessions", 0, "server", to=9), "no entry 9"),
        (_set("sessions", 0, "more", to=9), "more"),
        (_set("checks", to=[]), "list"),
        (_set("more", to=1), "more"),
    ],
)
def test_what_is_sealed_but_no_plan_is_refused(change: Callable[[Document], None], message: str) -> None:
    document = as_document(plan())
    change(document)
    with pytest.raises(PlanError, match=message):
        load_plan(sealed(document))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not a plan"),
        ("[1]", "there is no plan_version"),
        ('{"plan_version":2}', "this program reads version 1"),
        ('{"plan_version":1,"x":NaN}', "its seal does not fit"),
        ('{"plan_version":1}', "its seal does not fit"),
    ],
)
def test_other_texts_are_refused(text: str, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        load_plan(text)


def test_one_changed_character_breaks_the_seal() -> None:
    text = dump_plan(plan())
    for old, new in (('"seed":0', '"seed":1'), ('"seed":0', '"seed": 0'), ("\n", ""), (plan().seal, "0" * 64)):
        with pytest.raises(PlanError, match="seal"):
            load_plan(text.replace(old, new, 1))


def test_a_text_that_looks_like_a_seal_is_none() -> None:
    """A seal is found by how its key is written, which no text can hold."""
    odd = evolve(plan(), stem=f'"seal":"{plan().seal}"')
    assert load_plan(sealed(as_document(odd))).stem == odd.stem


def test_values_are_equal_by_their_fields() -> None:
    secret = SecretRef("hf_token", "/home/me/.token", required=True)
    assert secret == SecretRef("hf_token", "/home/me/.token", required=True)
    assert len({secret, SecretRef("hf_token", "/home/me/.token", required=True)}) == 1
    assert secret != SecretRef("hf_token", "/home/me/.token", required=False)
    assert secret != InputFile("hf_token", "/home/me/.token", "x")
    assert repr(secret) == "SecretRef(name='hf_token', file='/home/me/.token', required=True)"
