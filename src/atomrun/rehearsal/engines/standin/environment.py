"""Dataclasses filled from environment variables: the field `load_s` of prefix `STANDIN_` is `STANDIN_LOAD_S`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TypeVar

from .console import fail

__all__ = ["from_environment"]

Record = TypeVar("Record")


def from_environment(kind: type[Record], prefix: str, env: Mapping[str, str]) -> Record:
    """A `kind` (a dataclass whose defaults fix the types) with the values that `env` gives.

    An empty value counts as not given. A value of the wrong type ends the program with code 2: a fault
    that is asked for and not understood must not look like a run without it.
    """
    given: dict[str, object] = {}
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]  # a dataclass by contract
        name = prefix + field.name.upper()
        text = env.get(name, "")
        if text:
            given[field.name] = _convert(name, text, type(field.default))
    return kind(**given)


def _convert(name: str, text: str, kind: type[object]) -> object:
    if kind is bool:
        if text not in {"0", "1"}:
            raise fail(f"{name}: 0 or 1 expected, got {text!r}", 2)
        return text == "1"
    try:
        return kind(text)  # type: ignore[call-arg]  # int, float and str take one text
    except ValueError:
        raise fail(f"{name}: {kind.__name__} expected, got {text!r}", 2) from None
