"""A launcher whose disk takes no more: told as such, what was there stays, and the nodes are left clean."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from atomcfg.planio import seal_plan
from atomrun.__main__ import main
from atomrun.folder import FolderError, RunFolder, write_whole
from atomrun.journal import Journal, read_journal
from atomrun.redact import Redactor
from atomrun.run import execute

from .runs import Fleet, container_plan, healthy_host

FleetOf = Callable[..., Fleet]


@contextmanager
def full_at(size: int) -> Iterator[None]:
    """The system takes no more than `size` bytes in one file: a write ends there, the next is refused."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_file_that_does_not_fit_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    write_whole(path, b"old")
    with full_at(4), pytest.raises(FolderError) as caught:
        write_whole(path, b"newer")
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path], "no temporary file stays"


def test_a_place_that_takes_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(FolderError, match="file/r"):
        RunFolder.create(tmp_path / "file", "r", Redactor())
    with pytest.raises(FolderError, match="absent/journal"):
        Journal(tmp_path / "absent/journal.jsonl", str, lambda: 0.0)


def test_the_journal_complains_once(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl", str, lambda: 0.0)
    with full_at(100):
        journal.write("one")
        with pytest.raises(FolderError):
            journal.write("two", text="x" * 100)
        journal.write("three")
    journal.close()
    assert [line["event"] for line in read_journal(tmp_path / "journal.jsonl")] == ["one"]


@pytest.mark.parametrize("size", [700, 1500, 3000, 5000])
def test_nodes_are_clean_wherever_the_disk_fills(fleet_of: FleetOf, size: int) -> None:
    fleet = fleet_of(container_plan(cells=2), healthy_host(cells=2))
    with full_at(size), pytest.raises(FolderError):
        execute(fleet.run)
    assert fleet.head.owner is None
    assert fleet.head.closed


@pytest.mark.parametrize("where", ["plan.json", "plan.json/below"])
def test_runs_that_cannot_be_kept_anywhere(capsys: pytest.CaptureFixture[str], tmp_path: Path, where: str) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text(seal_plan(container_plan())[1])
    assert main(["rehearse", str(plan), "--runs", str(tmp_path / where)]) == 2
    said = capsys.readouterr().err
    assert f"cannot make {tmp_path / where}" in said
    assert "--runs" in said
