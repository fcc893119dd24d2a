"""The first line of a log that tells why a program failed. It explains; it never decides."""

from __future__ import annotations

import re

__all__ = ["first_error", "tail"]

_ERRORS = re.compile(
    r"""
      ^\s*(?:\S+\s+)*?(?:[A-Za-z_][\w.]*\.)?(?:[A-Z]\w*)?(?:Error|Exception|Interrupt)\b:\s   # Python's last line
    | \b(?:FATAL|CRITICAL)\b
    | ^\s*\S*\s*error:\s                                                                 # argparse and C programs
    | \bERROR\b:?\s
    | \bFatal\ Python\ error\b
    | out\ of\ memory\b
    | Segmentation\ fault | \bsegfault\b | \bcore\ dumped\b
    | Memory\ access\ fault\ by\ GPU | HW\ Exception\ by\ GPU | GPU\ Hang
    | HSA_STATUS_ERROR | (?:HIP|CUDA|NCCL|RCCL)\ error
    | proc\ died\ unexpectedly | Failed\ to\ (?:start|initialize)\ (?:all\ )?Engine
    | exec\ format\ error | :\ not\ found$ | No\ module\ named | [Pp]ermission\ denied
    | ^\s*Killed$
    """,
    re.VERBOSE,
)
_HARMLESS = re.compile(
    r"""
      \b(?:0|no)\ (?:errors?|failures?|failed)\b
    | \bINFO\b | \bDEBUG\b | \b(?:WARN|WARNING)\b:?
    | falling\ back | will\ retry | retry\ after | ignored
    """,
    re.VERBOSE | re.IGNORECASE,
)
# Wrappers that a traceback of another process ends in: the cause stands elsewhere, often after them.
_SECONDARY = re.compile(
    r"root cause above|See stack trace for root cause|Failed to start all EngineCore|shutting down"
)


def first_error(text: str) -> str:
    """The first line that looks like a cause, else the first that only reports a consequence, else ""."""
    consequence = ""
    for raw in re.split(r"[\r\n]+", text):
        line = raw.strip()
        if not line or _HARMLESS.search(line) or not _ERRORS.search(line):
            continue
        if not _SECONDARY.search(line):
            return line
        consequence = consequence or line
    return consequence


def tail(text: str, lines: int = 100) -> str:
    """The last lines of a log; what a progress bar redrew counts as one line."""
    kept = [line.rpartition("\r")[2] for line in text.rstrip("\r\n").replace("\r\n", "\n").split("\n")]
    return "\n".join(kept[-lines:])
