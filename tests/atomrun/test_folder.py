"""The run's folder: names, whole files, no secrets."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from atomrun.folder import FolderError, RunFolder, attempt_folder, run_id_of, write_whole
from atomrun.redact import Redactor
from atomrun.secrets import Secret

from .runs import container_plan


def test_a_name_tells_plan_and_time() -> None:
    moment = datetime(2026, 5, 1, 14, 0, 0, 123456, timezone(timedelta(hours=2)))
    assert run_id_of("mi3xx_x", "0123456789", moment) == "mi3xx_x-01234567-20260501T120000.123Z"
    assert run_id_of("mi3xx_x", "0123456789", moment) == run_id_of("mi3xx_x", "01234567", moment.astimezone(UTC))


def test_files_are_whole_and_free_of_secrets(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "runs", "r", Redactor([Secret("t", b"canary-0001")]))
    path = folder.keep_log("a.log", b"\xff canary-0001\n")
    assert path == tmp_path / "runs/r/logs/a.log"
    assert path.read_bytes() == b"\xff ****\n"
    assert [each.name for each in path.parent.iterdir()] == ["a.log"], "no temporary file stays"
    with pytest.raises(FolderError):
        RunFolder.create(tmp_path / "runs", "r", Redactor())


def test_a_file_is_replaced_at_once(tmp_path: Path) -> None:
    path = tmp_path / "deep/x"
    write_whole(path, b"old")
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"


def test_an_attempt_is_kept_as_on_the_node() -> None:
    assert attempt_folder(container_plan().cells[0], 2) == "artifacts/c0"
