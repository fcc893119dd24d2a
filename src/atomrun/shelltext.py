"""Shell text from argument lists: the only place where it is made."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["quoted"]

_PLAIN = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")


def quoted(argv: Sequence[str]) -> str:
    """The words of `argv` as text that any POSIX shell reads back as exactly these words.

    Everything but plain words is put between single quotes, where a shell interprets nothing; a single quote itself
    is written as `'\\''`. Text of any kind survives: blanks, newlines, control characters, `$()`, an empty word,
    bytes that are not UTF-8 (as surrogate escapes). Raises `ValueError` for NUL, which no argument can hold.
    """
    return " ".join(_word(word) for word in argv)


def _word(word: str) -> str:
    if "\0" in word:
        raise ValueError(f"an argument cannot hold a NUL character: {word!r}")
    if _PLAIN.fullmatch(word):
        return word
    return "'" + word.replace("'", "'\\''") + "'"
