"""The run's journal: one JSON line an event, on disk before the next step begins.

A step is written as an intent (`begin`) before it and an outcome (`end`) after it, so that whoever finds the
file after a crash knows what may have happened.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from .folder import FolderError, writing

__all__ = ["Journal", "JournalError", "read_journal"]


class JournalError(ValueError):
    """The journal is none that a run wrote."""


class Journal:
    """Appends to `path`; of a file that is there, a line that a crash cut off is dropped, and numbers go on.

    `clean` takes secrets out of a line; `now` gives seconds since the run began.
    """

    def __init__(self, path: Path, clean: Callable[[str], str], now: Callable[[], float]) -> None:
        with writing(path):
            self._file = path.open("ab", buffering=0)
            written = path.read_bytes()
            self._file.truncate(written.rfind(b"\n") + 1)
        self._path, self._lost = path, False
        self._number = written.count(b"\n")
        self._clean, self._now = clean, now
        self._lock = threading.Lock()

    def write(self, event: str, **fields: object) -> None:
        """One event, durable when this returns. The first that cannot be is a `FolderError`; later ones are lost,
        for whoever tears down must not be kept from it by a full disk."""
        with self._lock:
            if self._lost:
                return
            self._number += 1
            record = {"n": self._number, "t": round(self._now(), 3), "event": event, **fields}
            line = self._clean(json.dumps(record, ensure_ascii=False, default=str))
            try:
                with writing(self._path):
                    self._append(line.encode("utf-8", "backslashreplace") + b"\n")
            except FolderError:
                self._lost = True
                raise

    def _append(self, data: bytes) -> None:
        while data:  # a disk that is nearly full takes only a part
            data = data[self._file.write(data) :]
        os.fsync(self._file.fileno())

    def begin(self, step: str, **fields: object) -> None:
        self.write("begin", step=step, **fields)

    def end(self, step: str, **fields: object) -> None:
        self.write("end", step=step, **fields)

    def close(self) -> None:
        self._file.close()


def read_journal(path: Path) -> Iterator[Mapping[str, Any]]:
    """The events of a journal, oldest first. A last line that a crash cut off is left out.

    Raises `JournalError`.
    """
    for number, line in enumerate(path.read_bytes().split(b"\n")[:-1], 1):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            raise JournalError(f"line {number} is no record")
        yield record
