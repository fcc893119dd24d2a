"""Giving a run up: the last words come, and the exit status is 130, wherever the signal struck."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from atomrun.results import ExitCode

# A process whose third signal comes while it writes to standard error, at the bottom of that very write.
PROGRAM = """
import io, os, signal, sys, threading
from pathlib import Path
from types import SimpleNamespace
from atomrun.cli.abandon import abandon
from atomrun.events import SilentSink
from atomrun.signals import Interrupts

run = SimpleNamespace(
    nodes=[SimpleNamespace(name="gpu-a", root="/r")],
    run_id="r-1",
    options=SimpleNamespace(lease_s=9),
    folder=SimpleNamespace(path=Path(sys.argv[1])),
)


class Terminal(io.RawIOBase):
    signals = 3

    def writable(self):
        return True

    def write(self, data):
        while self.signals:
            self.signals -= 1
            os.kill(os.getpid(), signal.SIGINT)
        if sys.argv[2] == "stuck":
            threading.Event().wait()
        return os.write(2, data)


interrupts = Interrupts(lambda: abandon(run, SilentSink()))
with interrupts.installed():
    sys.stderr = io.TextIOWrapper(io.BufferedWriter(Terminal()), write_through=True)
    print("a line of progress", file=sys.stderr, flush=True)
    threading.Event().wait()
"""


@pytest.mark.parametrize("terminal", ["well", "stuck"])
def test_a_signal_in_the_middle_of_a_write(tmp_path: Path, terminal: str) -> None:
    argv = [sys.executable, "-c", PROGRAM, str(tmp_path), terminal]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    assert done.returncode == ExitCode.INTERRUPTED, done.stderr
    words = "given up on r-1; it still holds gpu-a, until its lease of 9 s runs out\n"
    assert (tmp_path / "LEFT-BEHIND.txt").read_text() == f"{words}atomrun cleanup r-1\n"
    assert done.stderr == (f"a line of progress\n{words}" if terminal == "well" else "")
