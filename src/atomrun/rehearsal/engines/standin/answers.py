"""What the stand-in knows: just enough for checks that look at answers.

Four shapes of question: a pass key hidden in a text; and those of the stand-in's own lm-eval tasks, a sum, a
comparison, a choice. Of the last three a stated part is answered wrongly, always the same ones.
"""

from __future__ import annotations

import re
import zlib

__all__ = ["answer"]

_NEEDLE = re.compile(
    r"\b(?:magic|secret|special|pass ?(?:key|code|word)|code|key|needle)\b[^.?\n]{0,80}?(?:\bis\b|:)\s*"
    r"[\"'`]?([A-Za-z0-9][A-Za-z0-9_-]*)",
    re.IGNORECASE,
)
_SUM = re.compile(r"has (\d+) \w+ and gets (\d+) more")
_COMPARISON = re.compile(r"Is (\d+) larger than (\d+)\?")
_CHOICE = re.compile(r"shows the word '(\w+)'\?")
_OPTION = re.compile(r"^([A-J])\. (\w+)$", re.MULTILINE)
_LETTERS = "ABCDEFGHIJ"


def answer(prompt: str, stop: tuple[str, ...], wrong_pct: float) -> str:
    """The beginning of the answer to a prompt, cut at the first stop string; empty for an unknown question."""
    # Benchmark prompts have neither, and there are thousands of them.
    if "?" not in prompt and ":" not in prompt:
        return ""
    text = _to_question(prompt, wrong_pct) or _to_needle(prompt)
    for mark in stop:
        text = text.partition(mark)[0]
    return text


def _to_question(prompt: str, wrong_pct: float) -> str:
    """The answer to the last question; what comes before it are examples."""
    last = re.split(r"(?:^|\n)(?:Question:|Q:)", prompt)[-1]
    slip = int(zlib.crc32(last.encode()) % 100 < wrong_pct)
    if found := _SUM.search(last):
        first, second = int(found.group(1)), int(found.group(2))
        return f"{first}+{second}={first + second + slip} #### {first + second + slip}"
    if found := _COMPARISON.search(last):
        larger = int(found.group(1)) > int(found.group(2))
        return f"So the answer is {'Yes' if larger != bool(slip) else 'No'}."
    if found := _CHOICE.search(last):
        letters = [letter for letter, option in _OPTION.findall(last) if option == found.group(1)]
        if letters:
            return f"The answer is ({_LETTERS[_LETTERS.index(letters[0]) - slip]})."
    return ""


def _to_needle(prompt: str) -> str:
    found = _NEEDLE.search(prompt)
    return f"The answer is {found.group(1)}." if found else ""
