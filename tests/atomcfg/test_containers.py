"""The command that makes a container."""

from __future__ import annotations

import pytest

from atomcfg.containers import run_argv
from atomcfg.model import ContainerSettings


@pytest.mark.parametrize(
    ("runtime", "ipc", "kept"),
    [("docker", "host", True), ("podman", "host", False), ("podman", "private", True), ("docker", "private", True)],
)
def test_a_size_of_shared_memory_stays_where_the_runtime_takes_it(runtime: str, ipc: str, kept: bool) -> None:
    args = {"ipc": ipc, "shm_size": "8G"}
    words = run_argv(ContainerSettings("per_run", "atom", "image:1", runtime, args, ()))
    assert ("--shm-size" in words) is kept
    assert words[words.index("--ipc") + 1] == ipc
