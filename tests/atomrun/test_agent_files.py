"""The agent itself: files, there and back."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from atomrun.channel import AgentHost
from atomrun.host import Refused

from .nodes import RUN


@pytest.mark.parametrize("size", [0, 1, 1 << 20, (1 << 20) + 1, 5_000_000])
def test_files_travel_exactly(host: AgentHost, size: int) -> None:
    data = random.Random(size).randbytes(size)
    host.put("deep/er/file.bin", data)
    assert host.get("deep/er/file.bin") == data


def test_put_replaces_whole_with_the_mode(anyhow: AgentHost, tmp_path: Path) -> None:
    target = tmp_path / "root" / "runs" / RUN / "x"
    anyhow.put("x", b"first version")
    assert (target.stat().st_mode & 0o777, target.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    anyhow.put("x", b"second", mode=0o755)
    assert (target.read_bytes(), target.stat().st_mode & 0o777) == (b"second", 0o755)
    assert not list(target.parent.glob(".put*"))


def test_put_below_a_directory_of_the_run(host: AgentHost, tmp_path: Path) -> None:
    path = f"{tmp_path}/logs/{RUN}/a/b"
    host.put(path, b"x")
    assert Path(path).read_bytes() == b"x"
    assert host.get(path) == b"x"


@pytest.mark.parametrize("path", ["../x", "a/../../x", "/a//b", "a b", "$HOME", "", "/", "ä", "a\nb"])
def test_paths_are_plain(host: AgentHost, path: str) -> None:
    with pytest.raises(Refused, match="not a plain path"):
        host.put(path, b"x")
    with pytest.raises(Refused, match="not a plain path"):
        host.get(path)


def test_put_refuses_foreign_places(host: AgentHost, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="outside the run's directories"):
        host.put(f"{tmp_path}/elsewhere/x", b"x")
    with pytest.raises(Refused, match="is a directory: jobs"):
        host.put("jobs", b"x")


def test_get_of_what_is_not_there(host: AgentHost, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="/no/such/file"):
        host.get("/no/such/file")
    with pytest.raises(Refused, match="not a readable file"):
        host.get(str(tmp_path))
    host.put("x", b"12345")
    with pytest.raises(Refused, match="5 bytes, more than the limit of 4"):
        host.get("x", limit=4)
