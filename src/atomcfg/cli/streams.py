"""The standard streams of a process, whoever is at their other end."""

from __future__ import annotations

import os
import sys

__all__ = ["let_go", "open_closed"]


def open_closed() -> None:
    """A process that was started with a stream closed (`>&-`) says there what it has to say all the same."""
    if sys.stdout is not None and sys.stderr is not None:
        return
    from pathlib import Path  # here, because streams are hardly ever closed

    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for as long as the process lives
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - as above


def let_go() -> None:
    """Before the end: what a stream does not take is dropped. The interpreter would complain, and change the exit
    status, while it flushes."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
