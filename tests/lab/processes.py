"""Processes that end with the test session, and are only ever stopped by what was recorded about them."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

from attrs import define, field, frozen

__all__ = ["PATH", "Ledger", "Recorded", "run", "wait_until"]

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@frozen
class Recorded:
    """A process, told apart from a later one with the same number by its start time (clock ticks since boot)."""

    pid: int
    started: str

    @classmethod
    def of(cls, pid: int) -> Recorded:
        return cls(pid, _stat(pid)[19])

    @property
    def alive(self) -> bool:
        try:
            stat = _stat(self.pid)
        except OSError:
            return False
        return stat[19] == self.started and stat[0] != "Z"

    def kill(self) -> None:
        """SIGKILL this process and nothing else; returns when it and its children (bound to it) have ended."""
        if self.alive:
            children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
            ending = [self, *(Recorded.of(int(pid)) for pid in children)]
            os.kill(self.pid, signal.SIGKILL)
            wait_until(lambda: not any(process.alive for process in ending), f"process {self.pid} to end")


@define
class Ledger:
    """Long-lived processes of one cluster, written to `path` so that a later session can end what this one left."""

    path: Path
    _running: dict[Recorded, subprocess.Popen[bytes]] = field(factory=dict, init=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end_all()

    def spawn(self, argv: Sequence[str], log: Path, greeting: bytes = b"") -> tuple[Recorded, Callable[[], None]]:
        """Start `argv` in its own session; the kernel kills it when this process dies, however it dies.

        The callable hands `greeting` to its standard input, once.
        """
        with log.open("ab") as out:
            process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *argv],
                env={"PATH": PATH, "LANG": "C.UTF-8"},  # what this session has in its own is no business of a node
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        recorded = Recorded.of(process.pid)
        self._running[recorded] = process
        with self.path.open("a") as file:
            file.write(f"{recorded.pid} {recorded.started}\n")

        def greet() -> None:
            assert process.stdin is not None
            with process.stdin as stdin:
                stdin.write(greeting)

        return recorded, greet

    def end(self, recorded: Recorded) -> None:
        recorded.kill()
        process = self._running.pop(recorded)
        process.wait()
        if process.stdin is not None:
            process.stdin.close()

    def end_all(self) -> None:
        """End what this session started, latest first, or what an earlier one left."""
        for recorded in reversed(list(self._running)):
            self.end(recorded)
        for line in self.path.read_text().splitlines() if self.path.exists() else ():
            pid, started = line.split()
            Recorded(int(pid), started).kill()
        self.path.unlink(missing_ok=True)


def run(argv: Sequence[str], *, timeout: float = 60) -> str:
    """Standard output of a short command; `AssertionError` with its standard error if it fails."""
    done = subprocess.run(argv, env={"PATH": PATH}, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout)
    assert done.returncode == 0, f"{' '.join(argv)}: exit {done.returncode}: {done.stderr.decode(errors='replace')}"
    return done.stdout.decode(errors="replace")


def wait_until(true: Callable[[], bool], what: str, timeout: float = 30) -> None:
    """Return as soon as `true()`; `TimeoutError` naming `what` after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    while not true():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {timeout:g} s for {what}")
        time.sleep(0.02)


def _stat(pid: int) -> list[str]:
    # The name in parentheses may hold anything; the fields after the last ")" start with the third, the state.
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
