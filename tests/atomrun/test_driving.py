"""One launcher a run, and others are told which."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from atomrun.driving import Driven, driving, launcher_of


def test_a_second_launcher_is_told_of_the_first(tmp_path: Path) -> None:
    assert launcher_of(tmp_path) is None
    with driving(tmp_path):
        found = launcher_of(tmp_path)
        assert found is not None
        assert found.pid == os.getpid()
        assert found.is_here
        with pytest.raises(Driven, match=f"process {os.getpid()} on .* drives this run"), driving(tmp_path):
            raise AssertionError
    assert launcher_of(tmp_path) is None
    with driving(tmp_path):
        assert launcher_of(tmp_path) == found


def test_what_others_wrote_there_is_no_launcher(tmp_path: Path) -> None:
    with driving(tmp_path):
        (tmp_path / ".launcher").write_text('{"pid": "everything"}')
        found = launcher_of(tmp_path)
        assert found is not None
        assert not found.is_here


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / ".launcher").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic"), driving(tmp_path):
        raise AssertionError
    assert not (tmp_path / "elsewhere").exists()
