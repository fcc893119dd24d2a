"""The program as a process: pipes, usage, interrupts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

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


def test_version_and_help() -> None:
    assert run("--version", capture_output=True).stdout.startswith(b"atomcfg ")
    assert run("-h", capture_output=True).stdout.startswith(b"usage: atomcfg")
    done = run("plam", capture_output=True)
    assert done.returncode == 2
    assert b"invalid choice: 'plam'" in done.stderr
