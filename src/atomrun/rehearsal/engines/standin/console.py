"""Lines on standard output and error, flushed at once: what reads them waits for lines."""

from __future__ import annotations

import sys
import time

__all__ = ["SERVER_BANNER", "client_banner", "fail", "hms", "say", "whisper"]

SERVER_BANNER = "stand-in engine, no model is loaded"


def say(line: str = "") -> None:
    """One line on standard output."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def whisper(line: str = "") -> None:
    """One line on standard error."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def fail(line: str, code: int) -> SystemExit:
    """The exception that ends the program with a last line on standard error."""
    whisper(line)
    return SystemExit(code)


def client_banner(what: str) -> None:
    """What a client says of itself before the lines of the real one."""
    whisper(f"stand-in {what}: it measures a latency model, not a model")


def hms() -> str:
    """Local time as the engines' short log prefix has it."""
    return time.strftime("%H:%M:%S")
