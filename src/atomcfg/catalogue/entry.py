"""What is known about a diagnostic code."""

from __future__ import annotations

from attrs import frozen

__all__ = ["Entry"]


@frozen
class Entry:
    """One code. `bad` draws the diagnostic, `good` does not.

    Examples are pieces of JSON or of a lab file, or `atomcfg` command lines.
    """

    code: str
    title: str
    why: str
    bad: str
    good: str
