"""Cell keys: parsed in any order, case and spacing; every fault in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atomcfg.cellkey import CellKey, KeyFault, ParsedKey, looks_like_key, parse_key

KEY = CellKey(1024, 512, 8, 2, 64)


@pytest.mark.parametrize(
    ("text", "canonical", "legacy"),
    [
        ("ISL=1024,OSL=512,TP=8,PP=2,CONC=64", True, ()),
        ("conc=64, pp=2, tp=8, osl=512, isl=1024", False, ()),
        (" ISL = 1024 ,OSL=512,TP=8,PP=2,CONC=64", False, ()),
        ("ISL=1024,OSL=512,TP=8,PP=2,NNODES=2,CONC=64", False, ("NNODES",)),
        ("ISL=1024,OSL=512,TP=8,PP=2,DP=4,NNODES=2,CONC=64", False, ("NNODES", "DP")),
    ],
)
def test_parsed(text: str, canonical: bool, legacy: tuple[str, ...]) -> None:
    assert parse_key(text) == ParsedKey(KEY, canonical, legacy)
    assert looks_like_key(text)


def test_without_pp() -> None:
    assert parse_key("ISL=1,OSL=1,TP=1,CONC=1") == ParsedKey(CellKey(1, 1, 1, 1, 1), False, ("PP",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ISL=1,OSL=1,TP=1,PP=1,CON=1", "unknown dimension CON"),
        ("ISL=1,ISL=1,OSL=1,TP=1,PP=1,CONC=1", "dimension ISL is given twice"),
        ("ISL=0,OSL=1,TP=1,PP=1,CONC=1", "ISL needs a whole number of at least 1, not 0"),
        ("ISL=1.5,OSL=1,TP=1,PP=1,CONC=1", "ISL needs a whole number of at least 1, not 1.5"),
        ("ISL=,OSL=1,TP=1,PP=1,CONC=1", "ISL needs a whole number of at least 1, not nothing"),
        ("ISL=1,OSL=1", "TP, CONC missing"),
        ("ISL=1,,OSL=1", '"" is not NAME=NUMBER'),
        ("1k_1k", '"1k_1k" is not NAME=NUMBER'),
    ],
)
def test_faults(text: str, message: str) -> None:
    fault = parse_key(text)
    assert isinstance(fault, KeyFault)
    assert fault.message == message


@pytest.mark.parametrize("text", ["accuracy", "", "a=b=c", "ISL=1;OSL=2=3"])
def test_what_is_no_key_does_not_look_like_one(text: str) -> None:
    assert not looks_like_key(text)


@given(st.text(max_size=40))
def test_any_text_has_an_answer(text: str) -> None:
    result = parse_key(text)
    if isinstance(result, ParsedKey):
        assert parse_key(str(result.key)) == ParsedKey(result.key, True, ())


@given(st.tuples(*[st.integers(1, 10**17)] * 5), st.permutations(range(5)))
def test_the_order_does_not_matter(numbers: tuple[int, ...], order: list[int]) -> None:
    key = CellKey(*numbers)
    parts = str(key).split(",")
    result = parse_key(",".join(parts[index] for index in order))
    assert isinstance(result, ParsedKey)
    assert result.key == key
