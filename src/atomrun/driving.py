"""Who drives a run on this machine: a lock in the run's folder, held for as long as the launcher lives."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attrs import asdict, frozen

__all__ = ["Driven", "Launcher", "driving", "launcher_of"]

_NAME = ".launcher"


@frozen
class Launcher:
    """A process that drives a run. `born` is its start time in clock ticks since the machine's boot."""

    host: str
    pid: int
    born: str

    @property
    def is_here(self) -> bool:
        """Whether it runs on this machine, and is no later process of the same number."""
        return self.host == socket.gethostname() and _born(self.pid) == self.born


class Driven(Exception):
    """Another launcher drives the run."""

    def __init__(self, launcher: Launcher) -> None:
        super().__init__(f"process {launcher.pid} on {launcher.host} drives this run")
        self.launcher = launcher


@contextmanager
def driving(folder: Path) -> Iterator[None]:
    """Be the launcher of the run in `folder` while this lasts. Raises `Driven`."""
    descriptor = os.open(folder / _NAME, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    with os.fdopen(descriptor, "r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Driven(_read(file.read())) from None
        file.truncate()
        file.write(json.dumps(asdict(Launcher(socket.gethostname(), os.getpid(), _born(os.getpid())))))
        file.flush()
        yield


def launcher_of(folder: Path) -> Launcher | None:
    """The launcher that drives the run in `folder` now, None if there is none."""
    try:
        with (folder / _NAME).open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return _read(file.read())
    except FileNotFoundError:
        pass
    return None


def _read(text: str) -> Launcher:
    try:
        said = json.loads(text)
        return Launcher(str(said["host"]), int(said["pid"]), str(said["born"]))
    except (ValueError, TypeError, KeyError):
        return Launcher("an unknown host", 0, "")


def _born(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""
