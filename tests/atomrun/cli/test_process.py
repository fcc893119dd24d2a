"""The program as a process: a verdict's exit status does not depend on who reads it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from tests.atomrun.runs import container_plan
from tests.judging import make_plan, make_result

from atomcfg.planio import seal_plan
from atomrun.report import write
from atomrun.results import RunVerdict

End = Callable[[], AbstractContextManager[int]]


@contextmanager
def unread() -> Iterator[int]:
    """The writing end of a pipe whose reader has left."""
    reading, writing = os.pipe()
    os.close(reading)
    yield writing
    os.close(writing)


@contextmanager
def full() -> Iterator[int]:
    descriptor = os.open("/dev/full", os.O_WRONLY)
    yield descriptor
    os.close(descriptor)


@pytest.mark.parametrize("end", [unread, full])
def test_a_verdict_that_nobody_reads_keeps_its_status(tmp_path: Path, end: End) -> None:
    result = make_result()
    assert result.verdict is RunVerdict.INFRASTRUCTURE
    write(tmp_path, result, make_plan())
    (tmp_path / "journal.jsonl").write_bytes(b"")
    with end() as descriptor:
        done = subprocess.run(
            [sys.executable, "-m", "atomrun", "show", str(tmp_path)],
            stdout=descriptor, stderr=subprocess.PIPE, check=False, timeout=60,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (3, b"")


@pytest.mark.parametrize("end", [unread, full])
def test_a_run_that_nobody_watches_comes_to_its_end(tmp_path: Path, end: End) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text(seal_plan(container_plan())[1])
    argv = ["execute", str(plan), "--runs", str(tmp_path / "runs")]
    with end() as descriptor:
        done = subprocess.run(
            [sys.executable, "-m", "atomrun", *argv], stdout=descriptor, stderr=descriptor, check=False, timeout=60
        )
    assert done.returncode == 3, "its node does not exist"
    assert len(list((tmp_path / "runs").glob("*/verdicts.json"))) == 1
