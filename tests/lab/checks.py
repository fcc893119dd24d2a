"""What a run must not leave on a node."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from pathlib import Path

from .node import Node
from .processes import wait_until

__all__ = ["assert_clean", "find_text", "remains"]

_COOKIES = ("ATOMRUN_JOB", "ATOMRUN_DIR")  # what the node's supervisor puts into the environment of a job
_LABEL = "atomrun.run"
_MEMORY = "/dev/shm"
_DISK = ("/var/tmp", "/tmp", "/run/lock")


def assert_clean(node: Node, within: float = 0) -> None:
    """No process, container, secret or lock of any run is on the node, at the latest in `within` seconds."""
    try:
        wait_until(lambda: not remains(node), f"{node.name} to be clean", within)
    except TimeoutError:
        left = remains(node)
        assert not left, f"left on {node.name}:\n  " + "\n  ".join(left)


def remains(node: Node) -> list[str]:
    """One line for each thing of a run that is on the node: processes, containers, files in memory, locks."""
    found = [
        f"process {process.pid}: {' '.join(process.argv)}"
        for process in node.processes()
        if any(name in process.environment for name in _COOKIES)
    ]
    found += [f"container {each['Names'][0]}: {each['Labels']}" for each in node.containers(f"label={_LABEL}")]
    found += [f"in memory: {path.name}" for path in node.path(_MEMORY).glob("atomrun*")]
    for folder in _DISK:
        for path in node.path(folder).glob("atomrun*/**/*"):
            if path.name.endswith(".lock") and _is_held(path):
                found.append(f"held: {folder}/…/{path.name}")
            if path.name in ("node.owner", "quarantine") and path.read_text():
                found.append(f"{path.name}: {path.read_text().strip()}")
    return found


def find_text(node: Node, text: bytes) -> Iterator[str]:
    """Where the node has `text`, a secret say: arguments and environments of processes, files that it can write."""
    for process in node.processes():
        if text.decode() in "\0".join((*process.argv, *process.environment, *process.environment.values())):
            yield f"process {process.pid}: {' '.join(process.argv)}"
    for folder in ("dev/shm", "etc", "home", "models", "root", "run", "shared", "tmp", "var"):
        for path in node.path(folder).rglob("*"):
            if path.is_file() and not path.is_symlink() and text in path.read_bytes():
                yield str(path.relative_to(node.path("/")))


def _is_held(path: Path) -> bool:
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
