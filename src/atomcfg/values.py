"""Scalars as the language writes them: `8` or `"8"`, `true` or `"true"`. Shapes were checked against the schema."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

__all__ = ["as_flag", "as_int", "as_text", "env_text", "is_open", "plain"]

_OPEN = re.compile(r"<[^<>]+>")
_TRUE, _FALSE = ("true", "1", "yes"), ("false", "0", "no")


def is_open(value: object) -> bool:
    """Whether the value is a token such as `<changeme>`: a lab must still supply it, so it counts as not given."""
    return isinstance(value, str) and _OPEN.fullmatch(value) is not None


def as_int(value: object, default: int = 0) -> int:
    """A whole number; `default` where there is none."""
    return int(value) if isinstance(value, int | str) and not is_open(value) else default


def as_flag(value: object, default: bool = False) -> bool:
    """A truth value in any accepted spelling; `default` where there is none."""
    if isinstance(value, bool):
        return value
    text = str(value).lower()
    return text in _TRUE if text in _TRUE + _FALSE else default


def as_text(value: object, default: str = "") -> str:
    """Text, or a number as it would be written; `default` where there is none."""
    if value is None:
        return default
    return value if isinstance(value, str) else json.dumps(value)


def env_text(value: object) -> str:
    """An environment value. JSON true and false become 1 and 0, which engines test for."""
    if isinstance(value, bool):
        return "1" if value else "0"
    return as_text(value)


def plain(value: object) -> object:
    """A JSON value without its comment keys, at every depth."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items() if not key.startswith("_")}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value
