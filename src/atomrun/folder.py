"""The run's folder on the launcher: `runs/<stem>-<digest8>-<UTC time>/`. Every file in it is free of secrets."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from atomcfg.plan import Cell
from atomcfg.tokens import Hole, fill

from .redact import Redactor

__all__ = ["FolderError", "RunFolder", "attempt_folder", "run_id_of", "write_whole", "writing"]


class FolderError(OSError):
    """The launcher cannot write what a run leaves: a full disk, no permission. See `filename` and `strerror`."""


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Within, what the system refuses is a `FolderError` about `path`."""
    try:
        yield
    except OSError as error:
        raise FolderError(error.errno, error.strerror, str(path)) from error


def run_id_of(stem: str, digest: str, began: datetime) -> str:
    """Milliseconds keep apart runs that a scheduler starts in the same second, on machines that share no disk."""
    moment = began.astimezone(UTC)
    return f"{stem}-{digest[:8]}-{moment:%Y%m%dT%H%M%S}.{moment.microsecond // 1000:03d}Z"


def attempt_folder(cell: Cell, attempt: int) -> str:
    """Where an attempt at a cell is kept, relative to the run's folder: named as on the node."""
    return fill(cell.artifact.directory, {Hole.RUN_DIR.value: "artifacts", Hole.ATTEMPT.value: str(attempt)})


def write_whole(path: Path, data: bytes) -> None:
    """Write a file by temporary name and rename; parents are made. `FolderError` leaves what was there before."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("wb") as out:
                out.write(data)
                out.flush()
                os.fsync(out.fileno())
            temporary.replace(path)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise


class RunFolder:
    """Files below `path`. What comes from a node is redacted on the way in."""

    def __init__(self, path: Path, redactor: Redactor) -> None:
        self.path = path
        self.redactor = redactor

    @classmethod
    def create(cls, runs: Path, run_id: str, redactor: Redactor) -> RunFolder:
        """A new folder; `FolderError` if it cannot be made, or if there is one of that name."""
        path = runs / run_id
        with writing(path):
            path.mkdir(parents=True, mode=0o755)
        return cls(path, redactor)

    def keep(self, name: str, data: bytes) -> Path:
        """Write `data` as `name` (a relative path), without secrets."""
        path = self.path / name
        write_whole(path, self.redactor.data(data))
        return path

    def keep_log(self, name: str, data: bytes) -> Path:
        """Logs may have been cut anywhere: in the middle of a secret too."""
        return self.keep(f"logs/{name}", self.redactor.excerpt(data))
