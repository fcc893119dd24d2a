"""Values against the published schemas. A valid document costs one pass of the validator, nothing else."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from atomcfg.diagnostics import Diagnostic, Diagnostics
from atomcfg.documents import Document, JsonPath
from atomcfg.schemas import load_schema, schema_text

if TYPE_CHECKING:
    import jsonschema_rs

    from atomcfg.faults import Fault

__all__ = ["check"]

_HALF = "the text holds half of a surrogate pair"
_BASE = "json-schema:///"
_REFERENCE = re.compile(r'"\$ref": *"([a-z-]+)\.schema\.json')
# Parts of a schema that are checked by themselves.
_PARTS = {"config-complete": ("config-flat", "#/$defs/complete")}
# Whose keys a misplaced one may belong to, where the schema only refers to another.
_HOMES = {"config-profiles": "config-flat", "config-complete": "config-flat"}


def check(document: Document, schema_name: str) -> tuple[Diagnostic, ...]:
    """All faults of shape, each once and none a consequence of another.

    `schema_name` is one of `schema_names()`, or `config-complete`: what every configuration must state once its
    profile is laid over the top level.
    """
    found = Diagnostics()
    odd = {} if document.ordinary else dict(_oddities(document.value))
    foreign = {path: message for path, message in odd.items() if message}
    for path, message in foreign.items():
        found.error(
            "A207",
            message,
            document.span(path),
            "remove it, or write the whole character"
            if message is _HALF
            else "write it as a text in quotation marks",
        )
    if foreign:
        return found.items
    validator = _validator(schema_name)
    value = _without_integral_floats(document.value) if odd else document.value
    if validator.is_valid(value):
        return ()
    faults = [_fault(document, schema_name, error) for error in validator.iter_errors(value)]
    _report(document, faults, found)
    return found.items


def _report(document: Document, faults: list[Fault], found: Diagnostics) -> None:
    from atomcfg.faults import report  # here, because most documents are valid

    strays = {fault.path: fault.unexpected for fault in faults if fault.unexpected}
    seen: set[JsonPath] = set()
    for fault in faults:
        # The branches of an if/then may both look at one value.
        if not fault.about_value or fault.path not in seen:
            report(document, fault, strays.get(fault.path, ()), found)
        if fault.about_value:
            seen.add(fault.path)


@cache
def _validator(name: str) -> jsonschema_rs.Draft202012Validator:
    # Here, because `import atomcfg` need not pay for the validator.
    import jsonschema_rs

    root, part = _PARTS.get(name, (name, ""))
    schema = {"$ref": f"{_BASE}{root}.schema.json{part}"}
    return jsonschema_rs.Draft202012Validator(schema, registry=_registry(frozenset(_needed(root))))


@cache
def _registry(names: frozenset[str]) -> jsonschema_rs.Registry:
    import jsonschema_rs

    return jsonschema_rs.Registry([(f"{_BASE}{name}.schema.json", load_schema(name)) for name in sorted(names)])


def _needed(name: str) -> set[str]:
    """A schema and all that it refers to."""
    needed: set[str] = set()
    waiting = {name}
    while waiting:
        known = waiting.pop()
        needed.add(known)
        waiting |= set(_REFERENCE.findall(schema_text(known))) - needed
    return needed


def _fault(document: Document, name: str, error: jsonschema_rs.ValidationError) -> Fault:
    from atomcfg.faults import Fault  # likewise

    path = tuple(error.instance_path)
    schema = _schema_at(name, error.evaluation_path)
    root = load_schema(_HOMES.get(name, name))
    # As written: the validator saw integral floats changed.
    return Fault(path, document.get(*path), error.kind.name, error.kind.as_dict(), schema, root)


def _schema_at(name: str, steps: list[str | int]) -> dict[str, object]:
    """The schema whose keyword failed. `steps` lead to it through every `$ref`."""
    base, part = _PARTS.get(name, (name, ""))
    here: object = {"$ref": f"{base}.schema.json{part}"}
    for step in steps[:-1]:
        if step == "$ref":
            assert isinstance(here, dict)
            base, here = _target(base, here["$ref"])
        else:
            here = here[step]  # type: ignore[index]  # the validator has walked this very path
    assert isinstance(here, dict)
    return here


def _target(base: str, reference: str) -> tuple[str, object]:
    file, _, pointer = reference.partition("#")
    base = file.removesuffix(".schema.json") or base
    here: object = load_schema(base)
    for step in pointer.split("/")[1:]:
        assert isinstance(here, dict)
        here = here[step]
    return base, here


def _oddities(value: object) -> Iterator[tuple[JsonPath, str]]:
    """Where a value is not JSON's (a message), or a float that JSON Schema would call an integer (no message)."""
    stack: list[tuple[JsonPath, object]] = [((), value)]
    while stack:
        path, here = stack.pop()
        if isinstance(here, dict):
            stack.extend(((*path, key), inner) for key, inner in here.items())
            for key in here:
                yield from _unencodable((*path, key), key)
        elif isinstance(here, list):
            stack.extend(((*path, index), inner) for index, inner in enumerate(here))
        elif isinstance(here, str):
            yield from _unencodable(path, here)
        elif isinstance(here, float):
            if here.is_integer():
                yield path, ""
        elif here is not None and not isinstance(here, bool | int):
            yield path, f"a {type(here).__name__} is no value here"


def _unencodable(path: JsonPath, text: str) -> Iterator[tuple[JsonPath, str]]:
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        yield path, _HALF


def _without_integral_floats(value: object) -> object:
    """A copy in which `8.0` is no integer: JSON Schema takes it for one, this language does not.

    Each such float moves by next to nothing, so that it keeps every bound it kept before.
    """
    holder: list[object] = [value]
    stack: list[tuple[list[object] | dict[str, object], int | str]] = [(holder, 0)]
    while stack:
        container, key = stack.pop()
        here = container[key]  # type: ignore[index]  # the key is one of this container
        changed: object = here
        if isinstance(here, dict):
            changed = inner = dict(here)
            stack.extend((inner, name) for name in inner)
        elif isinstance(here, list):
            changed = items = list(here)
            stack.extend((items, index) for index in range(len(items)))
        elif isinstance(here, float) and here.is_integer():
            changed = _beside(here)
        container[key] = changed  # type: ignore[index]  # likewise
    return holder[0]


def _beside(number: float) -> float:
    near = math.nextafter(number, 0.5)
    # Above 2**52 every float is integral; all bounds of the schemas are far below.
    return math.copysign(2.0**52 - 0.5, number) if near.is_integer() else near
