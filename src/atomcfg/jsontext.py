"""JSON texts to values, and what else must be known of them, at the cost of little more than the parser."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import chain

from attrs import frozen

__all__ = ["DEEPEST", "JsonText", "is_deep", "parse_json"]

DEEPEST = 100  # levels; no document needs more than a dozen


@frozen(eq=False, repr=False)
class JsonText:
    """A parsed text. `ordinary`: no float that is integral, no half of a surrogate pair."""

    value: object
    ordinary: bool
    repeated: bool  # some key is given twice
    deep: bool  # nested deeper than may be walked by recursion


def parse_json(text: str, constant: Callable[[str], object]) -> JsonText:
    """Parse a text; `constant` is called for NaN and Infinity. Raises what `json.loads` raises."""
    integral = False

    def number(word: str) -> float:
        nonlocal integral
        made = float(word)
        integral = integral or made.is_integer()
        return made

    value = json.loads(text, parse_float=number, parse_constant=constant)
    members, deep = _measured(value)
    # Each member has a colon, so with as many colons as members none was lost to another of the same key.
    repeated = text.count(":") != members and _has_repeated(text)
    return JsonText(value, not integral and "\\u" not in text, repeated, deep)


def is_deep(value: object) -> bool:
    """Whether a value is nested deeper than may be walked by recursion."""
    return _measured(value)[1]


def _has_repeated(text: str) -> bool:
    repeated = False

    def pairs(items: list[tuple[str, object]]) -> dict[str, object]:
        nonlocal repeated
        made = dict(items)
        repeated = repeated or len(made) != len(items)
        return made

    json.loads(text, object_pairs_hook=pairs)
    return repeated


def _measured(value: object) -> tuple[int, bool]:
    """The number of members of all objects, and whether the nesting is too deep to look further."""
    members = 0
    level = [value]
    for _ in range(DEEPEST):
        objects = [here for here in level if isinstance(here, dict)]
        arrays = [here for here in level if isinstance(here, list)]
        members += sum(map(len, objects))
        inner = chain(chain.from_iterable(map(dict.values, objects)), chain.from_iterable(arrays))
        level = [here for here in inner if type(here) is dict or type(here) is list]
        if not level:
            return members, False
    return members, True
