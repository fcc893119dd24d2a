"""Every code that can be reported is explained, and every explanation is of a code that can be reported."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from atomcfg.catalogue import CATALOGUE, Entry, explain

SOURCES = Path(__file__).parents[2] / "src" / "atomcfg"


def test_codes_and_entries_are_the_same_set() -> None:
    files = [path for path in SOURCES.rglob("*.py") if "catalogue" not in path.parts]
    used = {code for path in files for code in re.findall(r'"(A\d{3})"', path.read_text("utf-8"))}
    assert sorted(used) == sorted(CATALOGUE)


def test_titles_are_unique() -> None:
    titles = [entry.title for entry in CATALOGUE.values()]
    assert sorted(set(titles)) == sorted(titles)


@pytest.mark.parametrize("entry", CATALOGUE.values(), ids=CATALOGUE.keys())
def test_an_entry_is_complete(entry: Entry) -> None:
    assert not entry.title.endswith(".")
    assert entry.why.endswith(".")
    assert entry.bad
    assert entry.good
    assert entry.bad != entry.good


@pytest.mark.parametrize("entry", CATALOGUE.values(), ids=CATALOGUE.keys())
def test_good_examples_parse(entry: Entry) -> None:
    """A good example is JSON, a lab file, or something one types; a piece of JSON may be followed by words."""
    text = entry.good
    if text.startswith(("{", "[{", "[]")):
        json.JSONDecoder().raw_decode(text)
    elif text.startswith("["):
        tomllib.loads(text)
    else:
        assert re.match(r"atomcfg |--set |[\w.-]+\.json$", text), text


def test_explain() -> None:
    assert explain("A205") == (
        "A205: The top level is no object\n\nEvery input is one JSON object.\n\nBad:\n\n    []\n\nGood:\n\n    {}\n"
    )
    assert "\n    [set]\n    run_card.notes" in explain("A207")
    with pytest.raises(KeyError):
        explain("A000")
