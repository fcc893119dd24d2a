"""Processes and sockets, from /proc: who listens, whose a process is, and the end of a job."""

# ruff: noqa: UP006, UP035, UP045 - must run on Python 3.6
import os
import signal
import time
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Optional, Set

__all__ = ["Job", "holders", "is_ours", "listening", "members", "stop"]

LISTEN = "0A"
PAUSE_S = 0.05
KILL_PATIENCE_S = 3.0


class Job(NamedTuple):
    """A job of ours: its cookie `<run>/<name>`, and the file with the pid and start time of its first process."""

    cookie: str
    record: str


class _Stat(NamedTuple):
    state: str
    parent: int
    group: int
    started: str


def _read(path: str) -> bytes:
    """A file of /proc; empty if the process is gone or not ours to look at."""
    try:
        return Path("/proc", path).read_bytes()
    except OSError:
        return b""


def _stat(pid: int) -> Optional[_Stat]:
    fields = _read(f"{pid}/stat").decode("ascii", "replace").rpartition(")")[2].split()
    return _Stat(fields[0], int(fields[1]), int(fields[2]), fields[19]) if len(fields) > 19 else None


def _pids() -> Iterator[int]:
    return (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())


def _carries(pid: int, cookie: str) -> bool:
    return f"ATOMRUN_JOB={cookie}".encode() in _read(f"{pid}/environ").split(b"\0")


def _leader(job: Job) -> Optional[int]:
    """The pid of the job's first process, which is its group too; None if another process has that number now."""
    try:
        pid, started = Path(job.record).read_text().split()
    except (OSError, ValueError):
        return None
    stat = _stat(int(pid))
    return int(pid) if stat is None or stat.started == started else None


def members(job: Job) -> List[int]:
    """The living processes of a job: those of its group, and those that carry its cookie. A process may have
    overwritten its environment with a title, or have left the group; both at once is not found."""
    leader = _leader(job)
    found = []
    for pid in _pids():
        stat = _stat(pid)
        if stat is None or stat.state in "ZX" or pid == os.getpid():
            continue
        if stat.group == leader or _carries(pid, job.cookie):
            found.append(pid)
    return sorted(found)


def is_ours(pid: int, job: Job) -> bool:
    """Whether a process, or one of its ancestors, belongs to the job."""
    leader = _leader(job)
    while pid > 1:
        stat = _stat(pid)
        if stat is None:
            return False
        if pid == leader or stat.group == leader or _carries(pid, job.cookie):
            return True
        pid = stat.parent
    return False


def listening(port: int) -> Set[str]:
    """The inodes of the sockets that listen on a TCP port."""
    inodes = set()
    for table in ("net/tcp", "net/tcp6"):
        for line in _read(table).decode().splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTEN and int(fields[1].rpartition(":")[2], 16) == port:
                inodes.add(fields[9])
    return inodes


def holders(port: int) -> Dict[int, str]:
    """The processes that listen on a TCP port, with their command lines, as far as they are visible from here."""
    wanted = {f"socket:[{inode}]" for inode in listening(port)}
    return {pid: _command(pid) for pid in _pids() if wanted and wanted & set(_links(pid))}


def _links(pid: int) -> Iterator[str]:
    try:
        for link in Path(f"/proc/{pid}/fd").iterdir():
            yield os.readlink(str(link))  # noqa: PTH115 - Path.readlink came with Python 3.9
    except OSError:
        return  # the process is gone, or another user's


def _command(pid: int) -> str:
    words = _read(f"{pid}/cmdline").replace(b"\0", b" ")
    return words[:300].decode("utf-8", "replace").strip() or "?"


def stop(job: Job, grace_s: float) -> List[int]:
    """TERM, then KILL after `grace_s` seconds, to all that belongs to the job; the pids that are left."""
    left = _end(job, signal.SIGTERM, grace_s)
    return _end(job, signal.SIGKILL, KILL_PATIENCE_S) if left else []


def _end(job: Job, number: int, patience_s: float) -> List[int]:
    """Signal every process of the job once, those that it still starts too; wait until none is left."""
    until = time.monotonic() + patience_s
    signalled: Set[int] = set()
    while True:
        left = members(job)
        for pid in set(left) - signalled:
            _signal(pid, number)
        signalled.update(left)
        if not left or time.monotonic() >= until:
            return left
        time.sleep(PAUSE_S)


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except OSError:
        return  # it ended by itself
