"""Artifacts of every client, whole and broken, against verdicts written by hand (tests/data/artifacts)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from tests.judging import make_attempt, make_cell, make_plan, make_spec

from atomcfg.plan import Cell
from atomrun.artifacts import FORMATS
from atomrun.cells import judge_cell
from atomrun.results import CellState, Status

CORPUS = Path(__file__).resolve().parent.parent / "data" / "artifacts"
EXPECTED: dict[str, dict[str, Any]] = json.loads((CORPUS / "expected.json").read_text())
SUFFIX = {"atom": "json", "vllm": "json", "sglang": "jsonl"}
CASES = [(form, name) for name, case in EXPECTED.items() for form in case.get("formats", FORMATS)]

SPECS = (
    make_spec("total_token_throughput", "min_tok_s", 6000),
    make_spec("output_throughput", "min_tok_s", 3000),
    make_spec("per_gpu_throughput", "within", 800, tolerance_pct=10),
    make_spec("output_tput_per_gpu", "min_ratio", 0.45, reference="per_gpu_throughput"),
    make_spec("mean_ttft_ms", "max_ms", 200),
    make_spec("p99_ttft_ms", "max_ms", 400),
    make_spec("mean_tpot_ms", "max_ms", 6),
    make_spec("p99_itl_ms", "max_ms", 20),
    make_spec("p99_e2el_ms", "max_ms", 9000),
    make_spec("success_rate", "min", 1),
    make_spec("failed", "max", 0),
    make_spec("duration", "info"),
)


def cell_of(form: str, case: dict[str, Any]) -> Cell:
    cell = make_cell(*SPECS, allowed_failures=case.get("allowed_failures", 0))
    return evolve(cell, artifact=evolve(cell.artifact, format=form))


def text_of(form: str, name: str, case: dict[str, Any]) -> str | None:
    file = case.get("file", name)
    return None if file is None else (CORPUS / form / f"{file}.{SUFFIX[form]}").read_text()


@pytest.mark.parametrize(("form", "name"), CASES)
def test_artifact_gives_the_verdicts_written_by_hand(form: str, name: str) -> None:
    case = EXPECTED[name]
    cell = cell_of(form, case)
    attempt = make_attempt(text_of(form, name, case), case.get("exit", 0), began="20260501-120000")
    result = judge_cell(make_plan(cell), cell, attempt)
    assert result.state is CellState(case["state"])
    for because in case.get("because", ()):
        assert because in result.reason
    assert result.reason.count(";") >= len(case.get("because", ())) - 1
    assert bool(result.hint) == (result.state is CellState.INVALID)
    found = {verdict.metric: verdict.status.value for verdict in result.verdicts}
    named = {metric: status.value for status in Status for metric in case.get(status.value, ())}
    assert found == {spec.metric: named.get(spec.metric, case["rest"]) for spec in SPECS}


def test_every_file_of_the_corpus_is_expected() -> None:
    written = {(form, path.stem) for form in FORMATS for path in (CORPUS / form).glob(f"*.{SUFFIX[form]}")}
    judged = {(form, EXPECTED[name].get("file", name)) for form, name in CASES} - {(form, None) for form in FORMATS}
    assert written == judged


def test_every_kind_and_status_occurs() -> None:
    assert {spec.kind for spec in SPECS} == {"min", "max", "max_ms", "min_tok_s", "within", "min_ratio", "info"}
    occurring = {status.value for status in Status if any(status.value in case for case in EXPECTED.values())}
    assert occurring | {case["rest"] for case in EXPECTED.values()} == {status.value for status in Status}
