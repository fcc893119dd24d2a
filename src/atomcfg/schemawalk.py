"""The schemas as an editor reads them: which keys, descriptions and values there are at a path."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from .documents import JsonPath
from .schemas import load_schema

__all__ = ["default_at", "description_at", "keys_at", "type_at", "values_at"]

_COMBINED = ("allOf", "anyOf", "oneOf")
_Layer = tuple[str, Mapping[str, object]]  # name of the schema's file, and the schema


def description_at(schema: str, path: JsonPath) -> str:
    """What a schema says about the value at `path`; an empty text if nothing."""
    return next((str(layer["description"]) for _, layer in _at(schema, path) if "description" in layer), "")


def keys_at(schema: str, path: JsonPath) -> dict[str, str]:
    """The named keys of the object at `path`, in the schema's order, each with its description."""
    names = [name for _, layer in _at(schema, path) for name in _table(layer, "properties")]
    return {name: description_at(schema, (*path, name)) for name in dict.fromkeys(names)}


def values_at(schema: str, path: JsonPath) -> tuple[object, ...]:
    """The values that a schema lists for `path`; none if it is open."""
    found: list[object] = []
    for _, layer in _at(schema, path):
        listed = layer.get("enum")
        found += listed if isinstance(listed, list) else []
    return tuple(found)


def default_at(schema: str, path: JsonPath) -> object | None:
    """The value that an absent key at `path` stands for; None if there is no such value."""
    return next((layer["default"] for _, layer in _at(schema, path) if "default" in layer), None)


def type_at(schema: str, path: JsonPath) -> str:
    """What kind of value belongs at `path`, in words: the schema's `title`, else its types."""
    layers = [layer for _, layer in _at(schema, path)]
    titled = next((str(layer["title"]) for layer in layers if "title" in layer), "")
    types = [name for layer in layers for name in _names(layer.get("type"))]
    return titled or " or ".join(dict.fromkeys(types))


def _at(schema: str, path: JsonPath) -> list[_Layer]:
    layers = list(_layers(schema, load_schema(schema)))
    for step in path:
        layers = [inner for base, layer in layers for inner in _step(base, layer, step)]
    return layers


def _step(base: str, layer: Mapping[str, object], step: str | int) -> Iterator[_Layer]:
    """The schemas of one key or item; patterns count only for a key that has no name of its own."""
    if isinstance(step, int):
        yield from _layers(base, layer.get("items"))
        return
    named = _table(layer, "properties")
    if step in named:
        yield from _layers(base, named[step])
        return
    patterns = _table(layer, "patternProperties")
    matching = [inner for pattern, inner in patterns.items() if re.search(pattern, step)]
    for inner in matching or [layer.get("additionalProperties")]:
        yield from _layers(base, inner)


def _layers(base: str, schema: object) -> Iterator[_Layer]:
    """A schema, then what it refers to or combines: the nearer speaks first."""
    if not isinstance(schema, Mapping):
        return
    yield base, schema
    reference = schema.get("$ref")
    if isinstance(reference, str):
        yield from _layers(*_target(base, reference))
    for word in _COMBINED:
        parts = schema.get(word)
        for part in parts if isinstance(parts, list) else ():
            yield from _layers(base, part)


def _target(base: str, reference: str) -> tuple[str, object]:
    file, _, pointer = reference.partition("#")
    base = file.removesuffix(".schema.json") or base
    here: object = load_schema(base)
    for step in pointer.split("/")[1:]:
        assert isinstance(here, Mapping)
        here = here[step]
    return base, here


def _names(stated: object) -> list[str]:
    """The types of a `type` keyword, which is absent, one name, or several."""
    names = stated if isinstance(stated, list) else [stated]
    return [name for name in names if isinstance(name, str)]


def _table(layer: Mapping[str, object], name: str) -> Mapping[str, object]:
    table = layer.get(name)
    return table if isinstance(table, Mapping) else {}
