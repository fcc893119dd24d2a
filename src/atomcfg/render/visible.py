"""Text as a terminal can show it: nothing that moves the cursor, and a known width."""

from __future__ import annotations

import unicodedata

__all__ = ["cells", "visible"]

_TAB = "    "


def visible(text: str) -> str:
    """`text` on one line, with every control character made visible."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_shown, text))


def cells(text: str) -> list[tuple[str, int]]:
    """For each character of `text`: what to print for it, and how many columns that takes."""
    return [(shown, _width(shown)) for shown in map(_shown, text)]


def _shown(character: str) -> str:
    code = ord(character)
    if character == "\t":
        return _TAB
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if character.isprintable():
        return character
    # Characters that reorder or hide text, break lines, look like a space, or cannot be encoded.
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _width(shown: str) -> int:
    if shown.isascii():
        return len(shown)
    if unicodedata.combining(shown):
        return 0
    return 2 if unicodedata.east_asian_width(shown) in ("W", "F") else 1
