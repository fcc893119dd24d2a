"""A rehearsal from end to end: real processes, real HTTP, the plan's own commands."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from atomcfg.planio import load_plan

ROOT = Path(__file__).resolve().parents[3]
DEMO = ROOT / "examples/demo/mi3xx_atom_demo_single.json"
CANARY = "hf_EXAMPLEcanary0001abcdef"
QUICK = ("params.num_prompts=8", 'sweep.runs=[{"combo":"chat","concurrency":1},{"combo":"chat","concurrency":8}]')


@frozen
class Rehearsed:
    code: int
    out: str
    err: str
    folder: Path

    @property
    def verdicts(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "verdicts.json").read_text())
        return found


@pytest.fixture(scope="session")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two quick cells of the demo, with thresholds that hold and a token file."""
    folder = tmp_path_factory.mktemp("plan")
    (folder / "token").write_text(CANARY + "\n")
    thresholds = folder / "threshold.json"
    metrics = {"success_rate": {"kind": "min", "value": 1}, "output_throughput": {"kind": "min_tok_s", "value": 1}}
    keys = [f"ISL=128,OSL=64,TP=1,PP=1,CONC={concurrency}" for concurrency in (1, 8)]
    thresholds.write_text(json.dumps(dict.fromkeys(keys, metrics)))
    config = json.loads(DEMO.read_text()) | {"threshold_json": "threshold.json", "enforce_thresholds": False}
    (folder / DEMO.name).write_text(json.dumps(config))
    (folder / "lab.toml").write_text((DEMO.parent / "lab.toml").read_text())
    sets = [word for each in (*QUICK, f"paths.hf_token_file={folder / 'token'}") for word in ("--set", each)]
    argv = ["plan", str(folder / DEMO.name), "--cluster", str(DEMO.parent / "cluster.json"), *sets]
    subprocess.run(
        [sys.executable, "-m", "atomcfg", *argv, "-o", str(folder / "plan.json")], check=True, timeout=60
    )
    return folder / "plan.json"


def rehearse(plan: Path, runs: Path, *args: str, env: Mapping[str, str] | None = None) -> Rehearsed:
    argv = [sys.executable, "-m", "atomrun", "rehearse", str(plan), "--runs", str(runs), *args]
    settings = {**os.environ, "STANDIN_LOAD_S": "0.1", "STANDIN_SPEED": "500", "COLUMNS": "160", **(env or {})}
    done = subprocess.run(argv, env=settings, capture_output=True, text=True, timeout=100, check=False)
    (folder,) = runs.iterdir()
    return Rehearsed(done.returncode, done.stdout, done.stderr, folder)


def left_over(plan: Path) -> list[str]:
    """Processes of a rehearsal of this plan that are still there."""
    stem = load_plan(plan.read_text()).digest[:8]
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"ATOMRUN_JOB=mi3xx_atom_demo_single-{stem}".encode() in path.read_bytes():
                found.append(path.parent.name)
        except OSError:
            continue
    return found


def test_a_plan_is_rehearsed_as_it_stands(plan: Path, tmp_path: Path) -> None:
    done = rehearse(plan, tmp_path)
    assert done.code == 0, done.err
    result = done.verdicts
    assert [cell["state"] for cell in result["cells"]] == ["valid", "valid"]
    assert [(block["id"], block["status"]) for block in result["blocks"]] == [
        ("api_smoke", "ok"),
        ("health_check", "ok"),
    ]
    assert "REHEARSAL" in result["verdict"]
    assert done.out.count("REHEARSAL") > 1
    assert "PASS" not in done.out
    assert left_over(plan) == []
    again = subprocess.run(
        [sys.executable, "-m", "atomrun", "gate", str(done.folder)],
        capture_output=True, text=True, timeout=60, env={**os.environ, "COLUMNS": "160"}, check=False,
    )  # fmt: skip
    assert (again.returncode, again.stdout) == (0, done.out.partition("\n")[2]), "judged again, the same"


def test_a_tokens_value_is_in_nothing_that_is_kept(plan: Path, tmp_path: Path) -> None:
    done = rehearse(plan, tmp_path, "-v", env={"STANDIN_FAULT_TALKATIVE": "1"})
    assert done.code == 0, done.err
    assert CANARY not in plan.read_text() + done.out + done.err
    log = (done.folder / "logs/server-0.1.rank-0.out.log").read_text()
    assert "HF_TOKEN=****" in log, "the server had it, and printed it"
    for path in done.folder.rglob("*"):
        assert not path.is_file() or CANARY.encode() not in path.read_bytes(), path


@pytest.mark.parametrize(
    ("fault", "code", "reason"),
    [
        ({"STANDIN_FAULT_DIE_LOADING": "oom"}, 3, "HIP out of memory"),
        ({"STANDIN_FAULT_CLIENT_EXIT": "3"}, 3, "the client ended with status 3"),
        ({"STANDIN_FAULT_NO_ARTIFACT": "1"}, 3, "the client left no artifact"),
        ({"STANDIN_FAULT_STALE_ARTIFACT": "1"}, 3, "before this attempt began"),
        ({"STANDIN_FAULT_FAIL_EVERY": "4"}, 3, "requests failed"),
        ({"STANDIN_FAULT_WRONG_MODEL": "org/other"}, 3, "serves org/other, the plan wants Qwen/Qwen3-0.6B"),
        ({"STANDIN_FAULT_ESCAPE": "1", "STANDIN_FAULT_IGNORE_TERM": "1"}, 0, ""),
    ],
)
def test_what_goes_wrong_is_named_and_nothing_stays(
    plan: Path, tmp_path: Path, fault: dict[str, str], code: int, reason: str
) -> None:
    done = rehearse(plan, tmp_path, env=fault)
    assert done.code == code, done.err
    assert any(reason in each for each in done.verdicts["reasons"]) or not reason
    assert left_over(plan) == []


def test_a_server_that_dies_under_load_ends_its_cell_within_seconds(plan: Path, tmp_path: Path) -> None:
    done = rehearse(plan, tmp_path, env={"STANDIN_FAULT_DIE_AFTER_S": "0.8", "STANDIN_SPEED": "1"})
    assert done.code == 3
    assert "the server of rank 0 on 192.0.2.10 ended with status 1" in done.verdicts["cells"][0]["reason"]
    assert left_over(plan) == []


@pytest.mark.parametrize("count", [1, 2])
def test_interrupts_end_in_a_teardown(plan: Path, tmp_path: Path, count: int) -> None:
    argv = [sys.executable, "-m", "atomrun", "rehearse", str(plan), "--runs", str(tmp_path), "--json"]
    env = {**os.environ, "STANDIN_SPEED": "0.2"}
    with subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            event = json.loads(line)
            if (event["name"], event["status"]) == ("bench", "running"):
                for _ in range(count):
                    process.send_signal(signal.SIGINT)
                break
        rest = [json.loads(line) for line in process.stdout]
    assert process.returncode == 130
    assert [event["status"] for event in rest if event["name"] == "teardown"] == ["running", "ok"]
    assert left_over(plan) == []


def test_a_third_interrupt_gives_the_terminal_back(plan: Path, tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    argv = [sys.executable, "-m", "atomrun", "rehearse", str(plan), "--runs", str(tmp_path), "--lease", "10"]
    env = {**os.environ, "STANDIN_SPEED": "0.2", "TERM": "xterm", "TMPDIR": str(tmp_path)}
    shown = b""
    with subprocess.Popen(
        argv, env=env, stdout=subprocess.DEVNULL, stderr=theirs, start_new_session=True
    ) as process:
        os.close(theirs)
        while b"stage functional ok" not in shown:
            shown += os.read(ours, 1 << 16)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process.send_signal(number)
        with suppress(OSError):  # how a terminal says that nobody writes to it any more
            while piece := os.read(ours, 1 << 16):
                shown += piece
    os.close(ours)
    assert process.returncode == 130
    hidden, visible, said = shown.rindex(b"\x1b[?25l"), shown.rindex(b"\x1b[?25h"), shown.rindex(b"given up on")
    assert hidden < visible < said, "the cursor is back, and the live picture gone, before the last words"
    _await_the_lease(plan)


def _await_the_lease(plan: Path) -> None:
    while left := left_over(plan):
        for pid in left:
            with suppress(ProcessLookupError):
                descriptor = os.pidfd_open(int(pid))
                assert select.select([descriptor], [], [], 30)[0], f"{pid} outlives its lease"
                os.close(descriptor)


def test_cells_can_be_picked(plan: Path, tmp_path: Path) -> None:
    done = rehearse(plan, tmp_path, "--cell=chat-conc8", "--only", "cells")
    assert [cell["state"] for cell in done.verdicts["cells"]] == ["incomplete", "valid"]
    assert [block["status"] for block in done.verdicts["blocks"]] == ["skipped"]
    assert done.code == 0
