"""Nothing in a plan can change: frozen classes, tuples and plain values, down to the leaves."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from enum import Enum

import attrs

from atomcfg.plan import Plan


def mutable_parts(kind: object, path: str, seen: set[object]) -> list[str]:
    """Where a type lets something below it change: an unfrozen class, or a container that is not a tuple."""
    if kind in (str, int, float, bool, None, type(None), ...) or kind in seen:
        return []
    if typing.get_origin(kind) in (tuple, typing.Union, types.UnionType):
        return [fault for part in typing.get_args(kind) for fault in mutable_parts(part, path, seen)]
    if not isinstance(kind, type):
        return [f"{path}: {kind}"]
    if issubclass(kind, Enum):
        return []
    if not attrs.has(kind) or kind.__setattr__ is object.__setattr__:
        return [f"{path}: {kind.__name__}"]
    seen.add(kind)
    hints = typing.get_type_hints(kind)
    fields = [(field.name, hints[field.name]) for field in attrs.fields(kind)]
    return [fault for name, part in fields for fault in mutable_parts(part, f"{kind.__name__}.{name}", seen)]


def test_a_plan_is_frozen_to_the_leaves() -> None:
    assert mutable_parts(Plan, "Plan", set()) == []


@attrs.define
class _Open:
    x: int


@attrs.frozen
class _Holder:
    lists: list[int]
    nested: tuple[dict[str, int], ...]
    mapping: Mapping[str, int] | None
    thing: tuple[_Open, ...]
    fine: tuple[str, int | None]


def test_what_can_change_is_found() -> None:
    found = [each.split(":")[0] for each in mutable_parts(_Holder, "", set())]
    assert found == [f"_Holder.{name}" for name in ("lists", "nested", "mapping", "thing")]
