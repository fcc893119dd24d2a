"""Copy-on-write changes to JSON values, with the origins of what was changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from attrs import evolve

from .documents import Document, JsonPath, Origin

__all__ = ["merge", "place", "rewrite"]


def place(value: object, path: JsonPath, new: object) -> object | None:
    """`value` with `new` at `path`; missing objects are made. None if a step does not fit what is there."""
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        if not isinstance(value, list) or step >= len(value):
            return None
        inner = place(value[step], rest, new)
        return None if inner is None and rest else [*value[:step], inner, *value[step + 1 :]]
    if value is None:
        value = {}
    if not isinstance(value, dict):
        return None
    inner = place(value.get(step), rest, new)
    return None if inner is None and rest else {**value, step: inner}


def merge(base: object, over: object, path: JsonPath, origins: dict[JsonPath, Origin], origin: Origin) -> object:
    """`over` laid on `base`: objects merge key by key, all else replaces. Origins of what `over` gave are added."""
    if not (isinstance(base, dict) and isinstance(over, dict)):
        for known in [known for known in origins if known[: len(path)] == path]:
            del origins[known]
        origins[path] = origin
        return over
    made = dict(base)
    for key, value in over.items():
        made[key] = merge(base.get(key), value, (*path, key), origins, origin.below(key))
    return made


def rewrite(document: Document, change: Callable[[str, JsonPath], str], marks: str) -> Document:
    """The document with every text and key that holds one of the characters `marks` passed through `change`."""
    renamed: dict[JsonPath, Origin] = {}
    is_marked = re.compile(f"[{re.escape(marks)}]").search

    def walk(value: object, path: JsonPath, old: JsonPath) -> object:
        if isinstance(value, str):
            return change(value, old) if is_marked(value) else value
        if isinstance(value, list):
            return [
                walk(item, (*path, index), (*old, index)) if isinstance(item, str | dict | list) else item
                for index, item in enumerate(value)
            ]
        if not isinstance(value, dict):
            return value
        made: dict[str, object] = {}
        for key, item in value.items():
            name = change(key, (*old, key)) if is_marked(key) and not key.startswith("_") else key
            if name != key:
                renamed[(*path, name)] = document.origin((*old, key))
            plain = not isinstance(item, str | dict | list) or (isinstance(item, str) and not is_marked(item))
            made[name] = item if plain or key.startswith("_") else walk(item, (*path, name), (*old, key))
        return made

    value = walk(document.value, (), ())
    origins: Mapping[JsonPath, Origin] = {**document.origins, **renamed}
    return evolve(document, value=value, origins=origins)
