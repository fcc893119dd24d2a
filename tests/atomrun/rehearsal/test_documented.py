"""docs/rehearsal.md states every knob with its default, and every fault."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from standin.faults import Faults
from standin.knobs import Knobs

TEXT = (Path(__file__).resolve().parents[3] / "docs/rehearsal.md").read_text()


@pytest.mark.parametrize("field", dataclasses.fields(Knobs), ids=lambda field: field.name)
def test_knobs_are_documented_with_their_defaults(field: dataclasses.Field[object]) -> None:
    row = re.search(rf"^\| `STANDIN_{field.name.upper()}` \| ([\d.]+) \|", TEXT, re.MULTILINE)
    assert row, "no row in the table of knobs"
    assert float(row.group(1)) == field.default


@pytest.mark.parametrize("field", dataclasses.fields(Faults), ids=lambda field: field.name)
def test_faults_are_documented(field: dataclasses.Field[object]) -> None:
    assert f"| `STANDIN_FAULT_{field.name.upper()}` |" in TEXT


def test_nothing_else_is_documented() -> None:
    knobs = {f"STANDIN_{field.name.upper()}" for field in dataclasses.fields(Knobs)}
    faults = {f"STANDIN_FAULT_{field.name.upper()}" for field in dataclasses.fields(Faults)}
    tools = {"STANDIN_GPUS", "STANDIN_GPU_USED_MB", "STANDIN_GPU_BUSY_PCT", "STANDIN_HCAS"}
    assert set(re.findall(r"^\| `(STANDIN_\w+)`", TEXT, re.MULTILINE)) == knobs | faults | tools
