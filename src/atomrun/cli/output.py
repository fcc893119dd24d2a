"""What every command does at the edge: complain, print, choose the exit status."""

from __future__ import annotations

import io
import sys
from contextlib import suppress

from atomrun.results import ExitCode, RunResult

__all__ = ["Fault", "complain", "print_result", "say"]


class Fault(Exception):
    """The command cannot do what it was asked; `hint` names the next thing to try."""

    def __init__(self, message: str, hint: str = "", code: int = ExitCode.USAGE) -> None:
        super().__init__(message)
        self.hint, self.code = hint, code


def complain(fault: Fault) -> int:
    """Say it on standard error; the exit status."""
    sys.stderr.write(f"error: {fault}\n" + (f"hint: {fault.hint}\n" if fault.hint else ""))
    return fault.code


def say(text: str) -> None:
    """On standard output, if somebody reads it: a verdict stands, and its exit status, when nobody does."""
    with suppress(OSError):
        sys.stdout.write(text)
        sys.stdout.flush()


def print_result(result: RunResult, *, failed_only: bool = False) -> int:
    """The verdict's tables on standard output; the exit status."""
    from rich.console import Console

    from atomrun.report.terminal import render

    console = Console()  # with the colours of standard output
    console.file = shown = io.StringIO()
    console.print(render(result, console.width, failed_only=failed_only))
    say(shown.getvalue())
    return ExitCode.of(result.verdict)
