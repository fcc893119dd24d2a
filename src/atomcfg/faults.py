"""One fault that the validator found, in words: what was expected, what was found, what to do."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence

from attrs import evolve, frozen

from .diagnostics import Diagnostics
from .documents import Document, JsonPath
from .heirs import heir_of
from .suggest import did_you_mean, nearest

__all__ = ["Fault", "describe", "report"]

_ABOUT_OBJECT = ("additionalProperties", "required")
_TYPES = {
    "object": "an object",
    "array": "an array",
    "string": "a text",
    "number": "a number",
    "integer": "an integer",
    "boolean": "true or false",
    "null": "null",
}
_LIMITS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "minLength")
_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")
_PADDED = re.compile(r"\s*\+?0*([0-9]+)(?:\.0*)?\s*")
_EXACT = 2**53  # integers below are exact as floats
_SHOWN = 60  # characters of an offending text
_LISTED = 12  # known keys that a hint may list


@frozen(eq=False, repr=False)
class Fault:
    """A failed keyword: `kind` is its name, `details` what the validator says, `schema` the object that holds it,
    `root` the document's whole schema."""

    path: JsonPath
    value: object
    kind: str
    details: Mapping[str, object]
    schema: Mapping[str, object]
    root: Mapping[str, object]

    @property
    def about_value(self) -> bool:
        """False for faults of an object's keys, of which one object may have several."""
        return self.kind not in _ABOUT_OBJECT

    @property
    def unexpected(self) -> tuple[str, ...]:
        """The unknown keys that this fault is about."""
        names = self.details.get("unexpected")
        return tuple(str(name) for name in names) if isinstance(names, list) else ()


def report(document: Document, fault: Fault, strays: Sequence[str], found: Diagnostics) -> None:
    """Add the diagnostics of one fault.

    `strays` are the unknown keys of the object at hand: a missing key that is there, but misspelt, is not reported.
    """
    if fault.kind == "additionalProperties":
        for key in strays:
            _report_key(document, fault, key, found)
    elif fault.kind == "required":
        key = str(fault.details["property"])
        if nearest(key, strays) is None:
            span = document.span(fault.path, key=True)
            found.error("A202", f'missing key "{key}"', span, _meaning(fault, key))
    elif fault.kind == "not":
        summary = f'key "{fault.path[-1]}" does not belong here'
        found.error("A204", summary, document.span(fault.path, key=True), str(fault.schema["title"]))
    elif not fault.path:
        found.error("A205", f"expected an object at top level, found {describe(fault.value)}", document.span(()))
    else:
        _report_value(document, fault, found)


def describe(value: object) -> str:
    """A value in words, on one line: `the text "150x"`, `the number 8`, `an array`."""
    if isinstance(value, str):
        shown = value if len(value) <= _SHOWN else value[: _SHOWN - 1] + "…"
        return f"the text {json.dumps(shown, ensure_ascii=False)}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return "a number that is too large"
    if isinstance(value, int | float):
        return f"the number {json.dumps(value)}"
    if isinstance(value, dict):
        return "an object"
    return "an array" if isinstance(value, list) else "null"


def _report_key(document: Document, fault: Fault, key: str, found: Diagnostics) -> None:
    # The key stands in the message; the path says where it is not known.
    span = evolve(document.span((*fault.path, key), key=True), path=document.span(fault.path).path)
    parents = [step for step in fault.path if isinstance(step, str)]
    heir = heir_of(parents[-1] if parents else "", key)
    known = fault.schema.get("properties")
    if heir is not None:
        found.error("A203", f'key "{key}" is called "{heir[0]}" here', span, heir[1] or f'write "{heir[0]}"')
    elif isinstance(known, dict):
        found.error("A201", f'unknown key "{key}"', span, _hint_for(key, list(known), fault.root))
    else:
        found.error("A206", f'"{key}" cannot be a name here', span, str(fault.schema.get("$comment", "")))


def _hint_for(key: str, known: list[str], root: Mapping[str, object]) -> str:
    hint = did_you_mean(key, known)
    if hint:
        return hint
    places = [place for place, name in _places(root, "") if name == key]
    if len(places) == 1:
        return f'it belongs in "{places[0]}"'
    names = [name for name in known if name != "$schema"]
    return f"known here: {', '.join(names)}" if 0 < len(names) <= _LISTED else ""


def _places(schema: object, path: str) -> Iterator[tuple[str, str]]:
    """Every key that the schema states outright, with the dotted path of the object it belongs in."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    for name, inner in (properties or {}).items():
        if path:
            yield path, name
        yield from _places(inner, f"{path}.{name}" if path else name)


def _report_value(document: Document, fault: Fault, found: Diagnostics) -> None:
    options = _options(fault)
    expected = fault.schema.get("title")
    if options is None:
        expected = expected or _type_words(fault)
        code = "A222" if _is_out_of_range(fault) else "A224" if _is_malformed(fault) else "A221"
        hint = "" if code == "A222" else _spelling_hint(fault)
    else:
        expected = expected or f"one of {', '.join(map(_choice, options))}"
        code = "A223"
        names = [option for option in options if isinstance(option, str)]
        hint = did_you_mean(fault.value, names) if isinstance(fault.value, str) else ""
    given = "none" if fault.kind == "minItems" else describe(fault.value)
    summary = f"expected {expected}, found {given}"
    found.error(code, summary, document.span(fault.path), hint)


def _options(fault: Fault) -> list[object] | None:
    """The values allowed, where there is a list of them."""
    for holder in (fault.schema, *_alternatives(fault)):
        if isinstance(options := holder.get("enum"), list):
            return options
    return None


def _alternatives(fault: Fault) -> list[dict[str, object]]:
    found = fault.schema.get("anyOf") if fault.kind == "anyOf" else None
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _is_out_of_range(fault: Fault) -> bool:
    if fault.kind in _LIMITS:
        return True
    kinds = {str(item.get("type")) for item in _alternatives(fault)}
    value = fault.value
    if isinstance(value, bool) or not kinds & {"integer", "number"}:
        return False
    if isinstance(value, str):
        return (_INTEGER if "integer" in kinds else _NUMBER).fullmatch(value) is not None
    return isinstance(value, int) or (isinstance(value, float) and "number" in kinds)


def _is_malformed(fault: Fault) -> bool:
    return isinstance(fault.value, str) and (fault.kind == "pattern" or bool(_alternatives(fault)))


def _type_words(fault: Fault) -> str:
    stated = fault.schema.get("type")
    names = stated if isinstance(stated, list) else [stated]
    return " or ".join(_TYPES.get(str(name), "another value") for name in names)


def _spelling_hint(fault: Fault) -> str:
    """How to write what was meant, where only the spelling is wrong: a number for a text, or `" 8"`, `"08"`."""
    value = fault.value
    if value is None:
        return "leave the key out for its default"
    if isinstance(value, list) and fault.kind == "anyOf":
        return "write one value: only the cells of a sweep are lists"
    if isinstance(value, str) and "\0" in value:
        return "remove the NUL character"
    if isinstance(value, int | float) and not isinstance(value, bool) and fault.schema.get("type") == "string":
        return f"write {json.dumps(json.dumps(value))}"
    if isinstance(value, str) and (padded := _PADDED.fullmatch(value.replace("_", "").replace(",", ""))):
        return f"write {padded.group(1)}" if fault.kind == "anyOf" else ""
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT and fault.kind == "anyOf":
        return f"write {int(value)}"
    return ""


def _choice(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _meaning(fault: Fault, key: str) -> str:
    """What a missing key says, by its schema: the object's own, or that of the whole document."""
    parts = fault.root.get("$defs")
    for schema in (
        fault.schema,
        _schema_at(fault.root, fault.path),
        *(parts.values() if isinstance(parts, dict) else ()),
    ):
        properties = schema.get("properties") if isinstance(schema, dict) else None
        stated = properties.get(key) if isinstance(properties, dict) else None
        description = stated.get("description") if isinstance(stated, dict) else None
        if isinstance(description, str):
            return f"{key}: {description.split('. ')[0].rstrip('.')}"
    return ""


def _schema_at(schema: object, path: JsonPath) -> object:
    """The schema of the object at `path`, as far as keys alone lead to it."""
    for step in path:
        properties = schema.get("properties") if isinstance(schema, dict) else None
        schema = properties.get(step) if isinstance(properties, dict) else None
    return schema
