"""The agent on a full file system."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from atomrun.host import HostError, Stopped

from .nodes import RUN, Node, job, script

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif(os.getuid() != 0, reason="needs root: mounts a small file system"),
]


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Node]:
    """A node whose agent has 600 KB."""
    node = Node(tmp_path)
    node.root.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "small", str(node.root)], check=True)
    yield node
    node.close()
    subprocess.run(["umount", str(node.root)], check=True)


def fill(path: Path) -> None:
    """Take all the space that is left."""
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))


def test_what_runs_ends_in_order_and_what_is_new_is_refused(small: Node) -> None:
    host = small.holder()
    host.start(job("j", *script("while [ ! -e go ]; do sleep 0.05; done; exit 7")))
    host.start(job("k", "sleep", "600"))
    fill(small.root / "fill")
    for ask in (
        lambda: host.put("x", bytes(100_000)),
        lambda: host.run(("echo", "x"), timeout=20),
        lambda: host.start(job("new", "true")),
    ):
        with pytest.raises(HostError, match="cannot write") as caught:
            ask()
        assert caught.value.reason == "disk"
    (small.root / "runs" / RUN / "jobs" / "j" / "go").touch()
    ended = host.wait(["j"], 20)
    assert ended is not None
    assert (ended.state, ended.code) == ("exited", 7)
    assert set(host.release(grace=5)) >= {Stopped("j"), Stopped("k")}
    with pytest.raises(HostError, match="cannot write"):
        host.acquire("run-2", "tester", 600)
    (small.root / "fill").unlink()
    assert host.acquire("run-2", "tester", 600).adopted is False
