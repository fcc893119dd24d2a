"""What is known about a diagnostic code."""

from __future__ import annotations

from attrs import frozen

__all__ = ["Entry"]


@frozen
class Entry:
    """One code. `bad` draws the diagnostic, `good` does not.

    `form` says what the examples are: `json` (a value, or members of an object), `toml` (lab file), `shell`
    (command lines) or `text` (not meant to parse).
    """

    code: str
    title: str
    why: str
    bad: str
    good: str
    form: str = "json"
