"""JSON as it was written: numbers keep their spelling, what fits on a line stays on one."""

from __future__ import annotations

import json
from collections.abc import Mapping

__all__ = ["parse", "pretty"]

_WIDTH = 100


class _Spelt(float):
    """A number that remembers how it was written: `0.80`, `1e6`."""

    text: str

    def __new__(cls, text: str) -> _Spelt:
        made = super().__new__(cls, text)
        made.text = text
        return made


def parse(data: bytes) -> dict[str, object]:
    """The object of a text. `ValueError` if it is none, `RecursionError` if it is nested beyond reason."""
    value = json.loads(data.decode("utf-8-sig"), parse_float=_Spelt)
    if not isinstance(value, dict):
        raise ValueError("no object at the top level")
    return value


def pretty(value: Mapping[str, object]) -> str:
    """The text of a document: two spaces a level, one key a line at the top, a newline at the end."""
    if not value:
        return "{}\n"
    lines = [f"  {_text(key)}: {_laid(item, '  ', len(_text(key)) + 5)}" for key, item in value.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _laid(value: object, indent: str, before: int) -> str:
    """`value` behind `before` characters of its line; its own lines start with `indent`."""
    line = _line(value)
    if before + len(line) < _WIDTH or not isinstance(value, dict | list) or not value:
        return line
    inner = indent + "  "
    if isinstance(value, dict):
        parts = [f"{_text(key)}: {_laid(item, inner, len(inner + _text(key)) + 3)}" for key, item in value.items()]
        return "{\n" + ",\n".join(inner + part for part in parts) + f"\n{indent}}}"
    parts = [_laid(item, inner, len(inner) + 1) for item in value]
    return "[\n" + ",\n".join(inner + part for part in parts) + f"\n{indent}]"


def _line(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(key)}: {_line(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_line(item) for item in value) + "]"
    return value.text if isinstance(value, _Spelt) else _text(value)


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
