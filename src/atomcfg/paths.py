"""Configuration paths as people type them: `container.image`, `sweep.runs[0].concurrency`, `a["odd key"]`."""

from __future__ import annotations

import re

from .documents import JsonPath

__all__ = ["parse_path"]

_STEP = re.compile(r'\.?([^.\[\]"\s]+)|\[(\d{1,6})\]|\.?\[?"((?:[^"\\]|\\.)*)"\]?')


def parse_path(text: str) -> JsonPath | None:
    """The steps of a dotted path, or None if the text is none."""
    steps: list[str | int] = []
    at = 0
    if text.startswith("."):
        return None
    while at < len(text):
        match = _STEP.match(text, at)
        if match is None:
            return None
        word, index, quoted = match.groups()
        steps.append(int(index) if index is not None else word if word is not None else quoted)
        at = match.end()
    return tuple(steps) if steps and isinstance(steps[0], str) else None
