from __future__ import annotations

import io
from pathlib import Path

import polars
import pytest
from tests.judging import make_result, mixed_plan

from atomrun.report import write
from atomrun.resultio import load

PLAN = mixed_plan()
RESULT = make_result(PLAN)
NAMES = ["verdicts.json", "report.json", "summary.md", "report.html", "metrics.parquet", "junit.xml"]


def test_every_report_is_written_and_can_be_read(tmp_path: Path) -> None:
    paths = write(tmp_path, RESULT, PLAN)
    assert [path.name for path in paths] == NAMES
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(NAMES)
    assert load((tmp_path / "verdicts.json").read_text()) == RESULT
    assert polars.read_parquet(io.BytesIO((tmp_path / "metrics.parquet").read_bytes())).height > 50
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")
    assert (tmp_path / "summary.md").read_text().startswith("# INFRASTRUCTURE")
    assert b"<testsuites" in (tmp_path / "junit.xml").read_bytes()


def test_writing_again_replaces(tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / name).write_text("old")
    write(tmp_path, RESULT, PLAN)
    assert load((tmp_path / "verdicts.json").read_text()) == RESULT
    assert not [path for path in tmp_path.iterdir() if path.read_bytes() == b"old"]


def test_without_junitparser_its_report_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert [path.name for path in write(tmp_path, RESULT, PLAN)] == NAMES[:-1]
    assert not (tmp_path / "junit.xml").exists()
