"""Text with an exact length: one token is one blank-separated word."""

from __future__ import annotations

import random
import zlib

__all__ = ["Reply", "count", "random_words"]

_SYLLABLES = [head + tail for head in "bdfgklmnprstvz" for tail in ("a", "e", "i", "o", "u", "ai")]
_VOCABULARY = [first + second for first in _SYLLABLES for second in ("", "n", "r", "so", "ta")]
# A fixed text to copy answers from: long enough that an answer does not repeat itself soon.
_TEXT = random.Random(20260101).choices(_VOCABULARY, k=16384)  # noqa: S311 - filler, not secrets


def count(text: str) -> int:
    """Tokens of a text."""
    return len(text.split())


def random_words(rng: random.Random, length: int) -> str:
    """A prompt of exactly `length` tokens, from a random place of the fixed text."""
    return " ".join(_passage(rng.randrange(len(_TEXT)), length))


def _passage(start: int, length: int) -> list[str]:
    start %= len(_TEXT)
    passage = _TEXT[start : start + length]
    while len(passage) < length:
        passage += _TEXT[: length - len(passage)]
    return passage


class Reply:
    """An answer, handed out in pieces: a fixed opening, then filler. The same prompt gives the same answer."""

    def __init__(self, prompt: str, opening: str = "") -> None:
        self._words = opening.split()
        self._at = zlib.crc32(prompt.encode())

    def take(self, tokens: int) -> str:
        """The next `tokens` words, each with a blank before it."""
        if tokens <= 0:
            return ""
        words, self._words = self._words[:tokens], self._words[tokens:]
        filler = _passage(self._at, tokens - len(words))
        self._at += len(filler)
        words += filler
        return " " + " ".join(words)
