"""The documents that are made from the schemas and the catalogue are up to date, and complete."""

from __future__ import annotations

import re
import runpy

import pytest

from atomcfg.catalogue import CATALOGUE
from atomcfg.metrics import METRICS

from .rules import ROOT

MADE: dict[str, str] = runpy.run_path(str(ROOT / "docs" / "generate.py"))["documents"]()


@pytest.mark.parametrize("name", MADE)
def test_up_to_date(name: str) -> None:
    assert (ROOT / "docs" / name).read_text("utf-8") == MADE[name], "run: python docs/generate.py"


def test_every_code_is_told_once() -> None:
    told = re.findall(r"^### (A\d{3}): ", MADE["diagnostics.md"], re.M)
    assert told == list(dict.fromkeys(told))
    assert set(told) == set(CATALOGUE)
    assert set(re.findall(r"^\| `(A\d{3})` ", MADE["language.md"], re.M)) == set(CATALOGUE)


def test_every_metric_and_the_keys_of_each_document_are_told() -> None:
    rows = re.findall(r"^\| `(.+?)` \|", MADE["language.md"], re.M)
    assert set(METRICS) <= set(rows)
    assert {
        "params.num_prompts", "sweep.runs[].combo", "profiles.NAME", "server_params.add_flags", "CELL.METRIC.kind",
        "node_dict.ADDRESS.vpc_ip", "per_config.STEM",
    } <= set(rows)  # fmt: skip


def test_tables_are_whole() -> None:
    for line in MADE["language.md"].splitlines():
        if line.startswith("|"):
            assert len(re.findall(r"(?<!\\)\|", line)) in (3, 5, 6), line
