"""What a user has at hand: files of the lab, the two commands, and a run to watch, to signal and to kill."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from .cluster import Cluster
from .faults import lapse

__all__ = ["CANARY", "DEMO", "MODEL", "PHASES", "Desk", "Running"]

REPOSITORY = Path(__file__).resolve().parents[2]
DEMO = REPOSITORY / "examples/demo/mi3xx_atom_demo_single.json"
MODEL = "Qwen/Qwen3-0.6B"
CANARY = "hf_EXAMPLEcanary0001abcdef"
PATIENCE_S = 120
# Cells that are quick, and one that lasts until it is disturbed.
QUICK = 'sweep.runs=[{"combo":"chat","concurrency":1},{"combo":"chat","concurrency":8}]'

# The event that opens each phase of a run.
PHASES: Mapping[str, tuple[str, str]] = {
    "acquire": ("preflight", "running"),
    "launch": ("launch", "running"),
    "loading": ("ready", "running"),
    "bench": ("bench", "running"),
    "collect": ("collect", "running"),
    "teardown": ("teardown", "running"),
}


@define
class Running:
    """`atomrun execute --json` as a process. `events` are those read so far, with the time each was read."""

    process: subprocess.Popen[str]
    terminal: int = -1  # our side of its terminal
    events: list[tuple[float, dict[str, Any]]] = field(factory=list)
    _complaints: list[str] = field(factory=list)
    _reader: threading.Thread | None = None

    def until(self, name: str, status: str, count: int = 1) -> float:
        """Read up to the `count`-th event of that kind; when it was read."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.events.append((time.monotonic(), json.loads(line)))
            event = self.events[-1][1]
            if (event["name"], event["status"]) == (name, status):
                count -= 1
                if not count:
                    return self.events[-1][0]
        raise AssertionError(f"it ended before {name} {status}:\n" + self.said)

    def signal(self, number: int, times: int = 1) -> None:
        """As a user does it: again when the first had no visible effect."""
        for turn in range(times):
            if turn:
                lapse(0.1)
            if self.process.poll() is None:
                self.process.send_signal(number)

    def hang_up(self) -> None:
        """Close its terminal's window."""
        os.close(self.terminal)
        self.terminal = -1

    def end(self) -> int:
        """Read to the end; the exit status."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.events.append((time.monotonic(), json.loads(line)))
        return self.process.wait(PATIENCE_S)

    def statuses(self, name: str) -> list[str]:
        return [event["status"] for _, event in self.events if event["name"] == name]

    @property
    def said(self) -> str:
        return "\n".join([*(json.dumps(event) for _, event in self.events), *self._complaints])

    def listen(self) -> None:
        """Keep what it complains about, so that it never waits for a reader."""
        assert self.process.stderr is not None
        self._reader = threading.Thread(target=lambda: self._complaints.extend(self.process.stderr or ()))
        self._reader.start()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE_S)
        if self._reader is not None:
            self._reader.join(PATIENCE_S)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        if self.terminal >= 0:
            os.close(self.terminal)


@frozen
class Desk:
    """One folder with a cluster file, a `lab.toml` and a token; runs are made below it."""

    cluster: Cluster
    folder: Path
    cluster_path: Path

    def tool(self, name: str, *args: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """One command, to its end."""
        return subprocess.run(
            self._argv(name, args), cwd=self.folder, env=self._env(env), capture_output=True, text=True, timeout=400
        )

    def plan(self, *sets: str, config: Path = DEMO, name: str = "plan.json") -> Path:
        path = self.folder / name
        options = [word for each in sets for word in ("--set", each)]
        files = ["--cluster", str(self.cluster_path), "--lab", str(self.folder / "lab.toml")]
        made = self.tool("atomcfg", "plan", str(config), *files, *options, "-o", str(path))
        assert made.returncode == 0, made.stderr
        return path

    def atomrun(
        self, command: str, *args: str, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return self.tool("atomrun", command, *args, "--runs", str(self.folder / "runs"), env=env)

    @contextmanager
    def running(
        self, plan: Path, *args: str, env: Mapping[str, str] | None = None, terminal: bool = False
    ) -> Iterator[Running]:
        """A run in the background, in a session of its own; with `terminal`, on one that can be closed."""
        words = ["execute", str(plan), "--json", "--runs", str(self.folder / "runs"), *args]
        ours, theirs = pty.openpty() if terminal else (-1, -1)
        process = subprocess.Popen(
            self._argv("atomrun", words),
            cwd=self.folder,
            env=self._env(env),
            stdin=theirs if terminal else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=theirs if terminal else subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=_own(theirs) if terminal else None,
        )
        if terminal:
            os.close(theirs)
        run = Running(process, ours)
        if not terminal:
            run.listen()
        try:
            yield run
        finally:
            run.close()

    @property
    def run_folder(self) -> Path:
        (folder,) = (self.folder / "runs").iterdir()
        return folder

    @property
    def verdicts(self) -> dict[str, Any]:
        result: dict[str, Any] = json.loads((self.run_folder / "verdicts.json").read_text())
        return result

    def _argv(self, name: str, args: Sequence[str]) -> list[str]:
        return self.cluster.launcher([sys.executable, "-m", name, *args])

    def _env(self, more: Mapping[str, str] | None) -> dict[str, str]:
        return {**os.environ, "COLUMNS": "200", **(more or {})}


def _own(terminal: int) -> Callable[[], None]:
    def become_its_session() -> None:
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)

    return become_its_session
