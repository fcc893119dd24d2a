"""The examples in the catalogue are run: a bad one draws its code, a good one draws nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import atomcfg.drivers
from atomcfg.catalogue.drivers import ENTRIES

from .factory import check, make

BY_CODE = {entry.code: entry for entry in ENTRIES}


@pytest.mark.parametrize("code", BY_CODE)
def test_examples(code: str) -> None:
    entry = BY_CODE[code]
    assert [item.code for item in check(make(json.loads(entry.bad)))] == [code]
    assert check(make(json.loads(entry.good))) == ()


def test_every_code_of_the_drivers_is_listed() -> None:
    sources = Path(atomcfg.drivers.__file__).parent.glob("*.py")
    used = {code for path in sources for code in re.findall(r'"(A\d{3})"', path.read_text("utf-8"))}
    assert used == set(BY_CODE)
