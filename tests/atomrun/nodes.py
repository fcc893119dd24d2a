"""Real agents on this machine for tests: private roots, chosen shells, connections that can be cut."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from atomrun.channel import AgentHost, Channel, ProcessPipes
from atomrun.host import HostError, JobSpec

SHELLS = tuple(shell for shell in ("dash", "bash", "busybox") if shutil.which(shell))
RUN = "run-1"


class Node:
    """A root directory and hosts connected to it.

    `before` is shell text that runs ahead of the agent, like a start-up file; `refusals` are raised by the next
    attempts to connect, one each; `pipes` are all connections made, latest last.
    """

    def __init__(self, folder: Path, shell: str = "", before: str = "") -> None:
        self.root = folder / "root"
        self.programs = folder / "bin"  # first on the node's PATH
        self.before = before
        self.refusals: list[HostError] = []
        self.pipes: list[ProcessPipes] = []
        self._hosts: list[AgentHost] = []
        self.programs.mkdir()
        if shell:
            found = shutil.which(shell)
            assert found is not None
            (self.programs / "sh").symlink_to(found)

    def connect(self, timeout: float = 20.0) -> AgentHost:
        channel = self.channel()
        channel.connect(timeout)
        self._hosts.append(AgentHost(0, "node", channel))
        return self._hosts[-1]

    def channel(self) -> Channel:
        return Channel("node", self._open, str(self.root))

    def program(self, name: str, text: str) -> None:
        """Put a program of our own in the place of the node's."""
        (self.programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (self.programs / name).chmod(0o755)

    def holder(self, run: str = RUN, lease_s: int = 600) -> AgentHost:
        """A host that holds the node."""
        host = self.connect()
        host.acquire(run, "tester", lease_s, takeover=True)
        return host

    def close(self) -> None:
        """Release everything; then nothing of us may be left, neither process nor secret."""
        owner = self.root / "locks" / "node.owner"
        if owner.exists():
            self.holder(owner.read_text().split()[0].removeprefix("run=")).release(grace=0)
        for host in self._hosts:
            host.close()
        wait_until(lambda: not self.processes(), self.processes)

    def _open(self, argv: Sequence[str], _timeout: float) -> ProcessPipes:
        if self.refusals:
            raise self.refusals.pop(0)
        wrapped = ["/bin/sh", "-c", f'{self.before}\nexec "$@"', "sh", *argv] if self.before else argv
        errors = tempfile.TemporaryFile()  # noqa: SIM115, closed with the pipes
        process = subprocess.Popen(
            wrapped,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            bufsize=0,
            env=os.environ | {"PATH": f"{self.programs}:{os.environ['PATH']}"},
            start_new_session=True,
        )
        self.pipes.append(ProcessPipes(process, errors))
        return self.pipes[-1]

    def processes(self) -> dict[int, str]:
        """Everything that runs for this root: its agents by command line, its jobs by environment."""
        mark = str(self.root).encode()
        found = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal() and int(entry.name) != os.getpid():
                line, environ = _read(entry / "cmdline"), _read(entry / "environ")
                if mark in line or b"ATOMRUN_DIR=" + mark in environ:
                    found[int(entry.name)] = line.replace(b"\0", b" ").decode(errors="replace")
        return found

    def pid_of(self, name: str, record: str = "child") -> int:
        """The recorded process of a job."""
        return int((self.root / "runs" / RUN / "jobs" / name / record).read_text().split()[0])


def job(name: str, *argv: str, deadline_s: int = 60, stop_grace_s: int = 10) -> JobSpec:
    return JobSpec(name, argv, deadline_s, stop_grace_s=stop_grace_s)


def script(text: str) -> tuple[str, ...]:
    return ("sh", "-c", text)


def wait_until(true: Callable[[], object], show: Callable[[], object] = lambda: "") -> None:
    """For what the node does by itself; a generous limit, reached only in failure."""
    limit = time.monotonic() + 30
    while not true():
        assert time.monotonic() < limit, show()
        time.sleep(0.02)


def alive(pid: int) -> bool:
    return _read(Path(f"/proc/{pid}/cmdline")) != b""


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
