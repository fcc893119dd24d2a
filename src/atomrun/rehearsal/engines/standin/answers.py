"""What the stand-in knows: just enough for checks that look at answers."""

from __future__ import annotations

import re

__all__ = ["answer"]

_NEEDLE = re.compile(
    r"\b(?:magic|secret|special|pass ?(?:key|code|word)|code|key|needle)\b[^.?\n]{0,80}?(?:\bis\b|:)\s*"
    r"[\"'`]?([A-Za-z0-9][A-Za-z0-9_-]*)",
    re.IGNORECASE,
)


def answer(prompt: str, stop: tuple[str, ...]) -> str:
    """The beginning of the answer to a prompt, cut at the first stop string; empty for no question."""
    # Benchmark prompts have neither, and there are thousands of them.
    if "?" not in prompt and ":" not in prompt:
        return ""
    found = _NEEDLE.search(prompt)
    text = f"The answer is {found.group(1)}." if found else ""
    for mark in stop:
        text = text.partition(mark)[0]
    return text
