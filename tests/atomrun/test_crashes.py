"""A run whose launcher is killed after any record of its journal goes on, and starts nothing twice."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from attrs import frozen

from atomrun.journal import read_journal

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "examples/demo"
CELLS = 'sweep.runs=[{"combo":"chat","concurrency":1},{"combo":"chat","concurrency":8}]'
RECORDS = 70  # of an undisturbed run; `test_the_points_are_all_there_are` holds it
FULL = os.environ.get("HYPOTHESIS_PROFILE") == "full"
POINTS = range(1, RECORDS + 1) if FULL else sorted(random.Random(5).sample(range(1, RECORDS), 6))
ONCE = ("server", "ready", "functional", "cell")


@frozen
class Desk:
    """A plan, and a record of every program that a node was made to start."""

    folder: Path

    @property
    def started(self) -> Counter[str]:
        lines = (self.folder / "started").read_text().splitlines()
        names = [line.rpartition("/")[2] for line in lines]
        return Counter(name for name in names if name.startswith(ONCE))

    @property
    def run(self) -> Path:
        (folder,) = (self.folder / "runs").iterdir()
        return folder

    def atomrun(self, point: int, *argv: str) -> subprocess.CompletedProcess[str]:
        env = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
            "CRASHING_PYTHON": str(self.folder / "python"),
            "STANDIN_LOAD_S": "0.1",
            "STANDIN_SPEED": "500",
        }
        words = [sys.executable, "-m", "tests.atomrun.crashing", str(point), *argv]
        words += ["--runs", str(self.folder / "runs")]
        return subprocess.run(words, env=env, cwd=ROOT, capture_output=True, text=True, timeout=110, check=False)

    def left_over(self) -> list[str]:
        mark = f"ATOMRUN_JOB={self.run.name}".encode()
        return [path.parent.name for path in Path("/proc").glob("[0-9]*/environ") if mark in _read(path)]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


@pytest.fixture(scope="session")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crashes")
    (folder / "token").write_text("hf_EXAMPLEcanary0001abcdef\n")
    sets = ["params.num_prompts=8", CELLS, f"paths.hf_token_file={folder / 'token'}"]
    words = [word for each in sets for word in ("--set", each)]
    config, cluster = DEMO / "mi3xx_atom_demo_single.json", DEMO / "cluster.json"
    argv = [sys.executable, "-m", "atomcfg", "plan", str(config), "--cluster", str(cluster), *words]
    subprocess.run([*argv, "-o", str(folder / "plan.json")], check=True, timeout=60)
    return folder / "plan.json"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / "started").touch()
    shim = tmp_path / "python"
    shim.write_text(f'#!/bin/sh\necho "${{ATOMRUN_JOB-}}" >>{tmp_path}/started\nexec {sys.executable} "$@"\n')
    shim.chmod(0o755)
    return Desk(tmp_path)


@pytest.mark.timeout(240)
@pytest.mark.parametrize("point", POINTS)
def test_a_run_killed_at_any_record_goes_on_and_starts_nothing_twice(plan: Path, desk: Desk, point: int) -> None:
    killed = desk.atomrun(point, "rehearse", str(plan), "-q")
    assert killed.returncode == -9, killed.stderr
    resumed = desk.atomrun(0, "resume", desk.run.name)
    if "came to its end" in resumed.stderr:
        assert point == RECORDS
    else:
        assert resumed.returncode == 0, resumed.stderr
    verdicts = json.loads((desk.run / "verdicts.json").read_text())
    assert [cell["state"] for cell in verdicts["cells"]] == ["valid", "valid"]
    assert set(desk.started.values()) == {1}, desk.started
    assert {name.partition(".")[0] for name in desk.started} >= {"server-0", "cell-0", "cell-1"}
    assert desk.left_over() == []


@pytest.mark.skipif(not FULL, reason="part of make test-full")
def test_the_points_are_all_there_are(plan: Path, desk: Desk) -> None:
    assert desk.atomrun(0, "rehearse", str(plan), "-q").returncode == 0
    assert len(list(read_journal(desk.run / "journal.jsonl"))) == RECORDS
