"""The program as a process: pipes, usage, interrupts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import atomcfg

SOURCE = str(Path(atomcfg.__file__).parents[1])


def run(*argv: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    return subprocess.run([sys.executable, "-m", "atomcfg", *argv], env=environment, check=False, **options)


def test_a_closed_pipe_is_no_traceback() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = run("schema", "plan", stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_full_disk_behind_the_output() -> None:
    with Path("/dev/full").open("wb") as full:
        done = run("schema", "plan", stdout=full, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (2, b"error: cannot write the output: No space left on device\n")


@pytest.mark.parametrize("number", [1, 2])
def test_a_stream_that_is_closed(number: int) -> None:
    words = ("-c", f'exec "$@" {number}>&-', "-", sys.executable, "-m", "atomcfg", "explain", "A201")
    done = subprocess.run(
        ["sh", *words], env={**os.environ, "PYTHONPATH": SOURCE}, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_version_and_help() -> None:
    assert run("--version", capture_output=True).stdout.startswith(b"atomcfg ")
    assert run("-h", capture_output=True).stdout.startswith(b"usage: atomcfg")
    done = run("plam", capture_output=True)
    assert done.returncode == 2
    assert b"invalid choice: 'plam'" in done.stderr
