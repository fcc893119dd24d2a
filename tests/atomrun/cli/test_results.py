"""Runs that are stored: judged again, by other bounds, compared, calibrated from, reported again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.judging import artifact, make_attempt, make_cell, make_plan, make_run, make_spec

from atomcfg.plan import Plan
from atomcfg.planio import dump_plan, load_plan, seal_plan
from atomrun.__main__ import main
from atomrun.cells import judge_cell
from atomrun.conclude import conclude
from atomrun.folder import attempt_folder, write_whole
from atomrun.report import write
from atomrun.results import BlockResult

Capture = pytest.CaptureFixture[str]
POLLED = {"gpu.power_w": 700.0}
KEY = "ISL=1024,OSL=1024,TP=8,PP=1,CONC=16"


def sealed(plan: Plan) -> Plan:
    return load_plan(seal_plan(plan)[1])


PLAN = sealed(make_plan(make_cell(make_spec("output_throughput", "min_tok_s", 3000.0))))


def stored(runs: Path, name: str, plan: Plan = PLAN, transport: str = "ssh", **measured: Any) -> Path:
    """A run's folder as an execution leaves it."""
    folder, cell = runs / name, plan.cells[0]
    text = artifact(**measured)
    place = folder / attempt_folder(cell, 1)
    facts = {
        "cell": cell.id,
        "attempt": 1,
        "exit": 0,
        "began": "",
        "seconds": 42.0,
        "polled": {"gpu.power_w": 700.0},
    }
    write_whole(place / "attempt.json", json.dumps({**facts, "polled": POLLED}).encode())
    write_whole(place / cell.artifact.name, text.encode())
    write_whole(folder / "plan.json", dump_plan(plan).encode())
    write_whole(folder / "journal.jsonl", b"")
    judged = judge_cell(plan, cell, make_attempt(text, polled=POLLED))
    blocks = (BlockResult("functional", "api_smoke", "ok", "", 1.0, {}, (), ()),)
    run = make_run(run_id=name, transport=transport, cells=(judged,), blocks=blocks)
    write(folder, conclude(plan, run), plan)
    return folder


def file(tmp_path: Path, document: Mapping[str, Any]) -> str:
    path = tmp_path / "new_threshold.json"
    path.write_text(json.dumps(document))
    return str(path)


def test_judged_again_it_is_what_it_was(tmp_path: Path, capsys: Capture) -> None:
    stored(tmp_path, "run-1")
    assert main(["show", "run-1", "--runs", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert main(["gate", "run-1", "--runs", str(tmp_path)]) == 0
    assert capsys.readouterr().out == shown


def test_other_bounds_change_the_verdict_and_say_so(tmp_path: Path, capsys: Capture) -> None:
    folder = stored(tmp_path, "run-1")
    before = (folder / "verdicts.json").read_bytes()
    name = file(tmp_path, {KEY: {"output_throughput": {"kind": "min_tok_s", "value": 4000}}})
    assert main(["gate", str(folder), "--thresholds", name]) == 1
    told = capsys.readouterr().out
    assert "judged by new_threshold.json" in told
    assert "not ≥ 4,000" in " ".join(told.split())
    assert (folder / "verdicts.json").read_bytes() == before


@pytest.mark.parametrize(
    ("text", "why"), [(None, "cannot read"), ("{", "cannot be used"), ('{"x": 1}', "cannot be used")]
)
def test_bounds_that_cannot_be_used(tmp_path: Path, capsys: Capture, text: str | None, why: str) -> None:
    folder, path = stored(tmp_path, "run-1"), tmp_path / "t.json"
    if text is not None:
        path.write_text(text)
    assert main(["gate", str(folder), "--thresholds", str(path)]) == 2
    assert why in capsys.readouterr().err


def test_an_artifact_folder_that_is_gone(tmp_path: Path, capsys: Capture) -> None:
    folder = stored(tmp_path, "run-1")
    (folder / attempt_folder(PLAN.cells[0], 1) / "attempt.json").unlink()
    assert main(["gate", str(folder)]) == 2
    assert "attempt.json: No such file" in capsys.readouterr().err


def test_reports_are_written_again_with_a_comparison(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier, folder = stored(tmp_path, "run-0", output_throughput=3300.0), stored(tmp_path, "run-1")
    before = (folder / "verdicts.json").read_bytes()
    monkeypatch.setenv("CVS_INFERENCE_PREV_REPORT_JSON", str(earlier / "report.json"))
    assert main(["report", "run-1", "--runs", str(tmp_path), "--parity", str(earlier)]) == 0
    assert str(folder / "report.html") in capsys.readouterr().out
    panels = json.loads((folder / "report.json").read_text())["panels"]
    assert panels["prev_run"]["rows"][0]["delta_pct"] == pytest.approx(-3.03, abs=0.01)
    assert panels["framework_parity"]["reason"] == "both runs are of driver atom"
    assert (folder / "verdicts.json").read_bytes() == before


def test_two_runs_side_by_side(tmp_path: Path, capsys: Capture) -> None:
    stored(tmp_path, "run-0", output_throughput=3300.0, mean_ttft_ms=150.0)
    other = stored(tmp_path, "run-1")
    assert main(["compare", "run-0", str(other / "report.json"), "--runs", str(tmp_path)]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "run-0 against it: run-1" in told
    assert "balanced-conc16 output tok/s 3,300 3,200 -3.0 % tok/s worse" in told
    assert "TTFT mean 150 120.4 -19.7 % ms better" in told
    assert "2 worse, 1 better, 5 the same; judges nothing" in told


def test_side_by_side_as_json(tmp_path: Path, capsys: Capture) -> None:
    for name in ("run-0", "run-1"):
        stored(tmp_path, name)
    assert main(["compare", "run-0", "run-1", "--runs", str(tmp_path), "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["theirs"]["run_id"] == "run-0"
    assert {row["metric"] for row in document["cells"]} >= {"output_throughput", "p99_ttft_ms"}


def test_unequal_runs_must_be_asked_for(tmp_path: Path, capsys: Capture) -> None:
    stored(tmp_path, "run-0", transport="local")
    stored(tmp_path, "run-1")
    argv = ["compare", "run-0", "run-1", "--runs", str(tmp_path)]
    assert main(argv) == 2
    assert "--across transport" in capsys.readouterr().err
    assert main([*argv, "--across", "transport"]) == 0
    assert "transport" in capsys.readouterr().out
    assert main(["compare", "run-1", "run-1", "--runs", str(tmp_path)]) == 2
    assert "compared with itself" in capsys.readouterr().err


@pytest.mark.parametrize(("data", "why"), [(b"{}", "not a report.json"), (b"\xff", "not UTF-8")])
def test_what_is_no_report(tmp_path: Path, capsys: Capture, data: bytes, why: str) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(data)
    assert main(["compare", str(path), str(path)]) == 2
    assert why in capsys.readouterr().err


def test_bounds_from_runs_bind_and_hold(tmp_path: Path, capsys: Capture) -> None:
    names = [stored(tmp_path, f"run-{at}", output_throughput=3200.0 + at).name for at in range(5)]
    bounds = tmp_path / "t.json"
    argv = ["calibrate", *names, "--runs", str(tmp_path), "--margin", "2"]
    assert main([*argv, "-o", str(bounds)]) == 0
    assert "from 5 runs, margin 2 %" in capsys.readouterr().out
    assert json.loads(bounds.read_text())[KEY]["output_throughput"] == {"kind": "min_tok_s", "value": 3136}
    assert main(["gate", "run-0", "--runs", str(tmp_path), "--thresholds", str(bounds)]) == 0
    capsys.readouterr()
    assert main(argv) == 0
    captured = capsys.readouterr()
    assert captured.out == bounds.read_text()
    assert "percentiles rest on too few requests" in captured.err


def test_bounds_from_a_bad_run_are_refused(tmp_path: Path, capsys: Capture) -> None:
    stored(tmp_path, "run-0", completed=77)
    assert main(["calibrate", "run-0", "--runs", str(tmp_path), "-o", str(tmp_path / "t.json")]) == 2
    assert "3 requests failed" in capsys.readouterr().err
    assert not (tmp_path / "t.json").exists()
    stored(tmp_path, "run-1", transport="rehearsal")
    argv = ["calibrate", "run-1", "--runs", str(tmp_path), "-o", str(tmp_path / "t.json")]
    assert main(argv) == 2
    assert main([*argv, "--rehearsal"]) == 0
    assert json.loads((tmp_path / "t.json").read_text())["_calibration"]["rehearsal"] is True


def test_lint_lists_what_cannot_fail_what_is_missing_and_what_would_have_failed(
    tmp_path: Path, capsys: Capture
) -> None:
    stored(tmp_path, "run-0")
    stored(tmp_path, "run-1", output_throughput=4100.0)
    table = {
        "output_throughput": {"kind": "min_tok_s", "value": 4000},
        "mean_ttft_ms": {"kind": "max_ms", "value": 1e6},
        "p99_ttft_ms": {"kind": "info"},
    }
    argv = ["calibrate", "run-0", "run-1", "--runs", str(tmp_path), "--lint", file(tmp_path, {KEY: table})]
    assert main(argv) == 1
    told = capsys.readouterr().out
    assert f"{KEY} mean_ttft_ms: max_ms 1e+06 cannot fail" in told
    assert f"{KEY}: no spec for total_token_throughput, " in told
    assert f"{KEY}: recorded only: p99_ttft_ms" in told
    assert "balanced-conc16 output_throughput: fails in 1 of 2 runs" in told
    assert "1 cells, 3 specs: 1 cannot fail, 22 gated metrics have none" in told


def test_lint_of_what_is_no_threshold_file(tmp_path: Path, capsys: Capture) -> None:
    assert main(["calibrate", "--lint", str(tmp_path / "t.json")]) == 2
    assert "no such file" in capsys.readouterr().err
    assert main(["calibrate", "--lint", file(tmp_path, {"x": 1})]) == 2


@pytest.mark.parametrize("margin", ["-1", "100", "much"])
def test_a_margin_is_a_percentage(margin: str) -> None:
    with pytest.raises(SystemExit):
        main(["calibrate", "run-1", f"--margin={margin}"])


def test_cells_and_checks_that_were_not_carried_out_stay_so(tmp_path: Path, capsys: Capture) -> None:
    """A run of which a cell never finished and a check ended in an error, judged again."""
    second = make_cell(id="second", key=KEY.replace("16", "32"))
    folder = stored(tmp_path, "run-1", sealed(make_plan(*PLAN.cells, second)))
    assert main(["gate", str(folder)]) == 3
    again = capsys.readouterr().out
    assert main(["show", str(folder)]) == 3
    assert capsys.readouterr().out == again
