"""The two byte pipes that a channel talks over, whatever made them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from typing import IO, Any, Protocol

__all__ = ["Open", "Pipes", "ProcessPipes"]


class Pipes(Protocol):
    """A program's standard input and output. `kill` ends blocked reads and writes; all else may block."""

    def read(self) -> bytes:
        """Some bytes, b"" at the end."""
        ...

    def write(self, data: bytes) -> None:
        """All of `data`. Raises `OSError` when the other side is gone."""
        ...

    def close_input(self) -> None:
        """Called by the thread that writes, and only by it: a descriptor must not be closed while in use."""
        ...

    def kill(self) -> None: ...

    def reap(self) -> None:
        """End and collect the program, and free all but its input. Called by the thread that reads."""
        ...

    def errors(self) -> str:
        """What the program wrote to its standard error so far, shortened."""
        ...


Open = Callable[[Sequence[str], float], Pipes]
"""Start `argv` (first argument) on the node within seconds (second). Raises `HostError`."""


class Process(Protocol):
    """The part of `subprocess.Popen` that is used here."""

    stdin: Any
    stdout: Any

    def kill(self) -> None: ...

    def wait(self, timeout: float | None = None) -> int: ...


class ProcessPipes:
    """Pipes to a local process made with `bufsize=0`. `errors` is the file that gets its standard error."""

    def __init__(self, process: Process, errors: IO[bytes]) -> None:
        self._process = process  # kept: plumbum's wrapper closes the pipes when it is collected
        self._errors = errors

    def read(self) -> bytes:
        try:
            return os.read(self._process.stdout.fileno(), 1 << 16)
        except OSError:
            return b""

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._process.stdin.fileno(), view[: 1 << 16]) :]

    def close_input(self) -> None:
        with contextlib.suppress(OSError):
            self._process.stdin.close()

    def kill(self) -> None:
        self._process.kill()

    def reap(self) -> None:
        self.kill()
        self._process.wait()
        self._process.stdout.close()
        self._errors.close()

    def errors(self) -> str:
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - 4000))
        return self._errors.read().decode("utf-8", "replace")
