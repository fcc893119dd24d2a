"""Diagnostics as SARIF 2.1.0, which code scanning services read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import PurePosixPath
from urllib.parse import quote

from atomcfg._version import __version__
from atomcfg.catalogue import CATALOGUE
from atomcfg.diagnostics import Diagnostic, Related, Severity, Span

__all__ = ["render_sarif"]

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


def render_sarif(diagnostics: Iterable[Diagnostic]) -> str:
    """One run of one tool; the rules are the catalogue's entries that were met."""
    items = list(diagnostics)
    codes = sorted({item.code for item in items})
    driver = {"name": "atomcfg", "version": __version__, "rules": [_rule(code) for code in codes]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(item, codes.index(item.code)) for item in items],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(code: str) -> dict[str, object]:
    entry = CATALOGUE[code]
    return {
        "id": code,
        "shortDescription": {"text": entry.title},
        "fullDescription": {"text": entry.why},
        "help": {"text": f"{entry.why}\n\nBad:\n{entry.bad}\n\nGood:\n{entry.good}"},
    }


def _result(item: Diagnostic, index: int) -> dict[str, object]:
    text = f"{item.summary}\nhint: {item.hint}" if item.hint else item.summary
    result: dict[str, object] = {
        "ruleId": item.code,
        "ruleIndex": index,
        "level": _LEVELS[item.severity],
        "message": {"text": text},
        "locations": [_location(item.span)],
    }
    if item.related:
        result["relatedLocations"] = [_related(number, related) for number, related in enumerate(item.related)]
    return result


def _related(number: int, related: Related) -> dict[str, object]:
    return {"id": number, "message": {"text": related.message}, **_location(related.span)}


def _location(span: Span) -> dict[str, object]:
    physical: dict[str, object] = {"artifactLocation": {"uri": _uri(span.file)}}
    if span.line:
        physical["region"] = _region(span)
    location: dict[str, object] = {"physicalLocation": physical}
    if span.path:
        location["logicalLocations"] = [{"fullyQualifiedName": span.path}]
    return location


def _region(span: Span) -> dict[str, object]:
    region: dict[str, object] = {"startLine": span.line, "startColumn": span.column}
    if span.end_column > span.column:
        region["endColumn"] = span.end_column
    if span.text:
        region["snippet"] = {"text": span.text}
    return region


def _uri(name: str) -> str:
    """A relative reference, or a `file:` URI."""
    path = name.replace("\\", "/")
    quoted = quote(path.encode("utf-8", "backslashreplace"))
    return f"file://{quoted}" if PurePosixPath(path).is_absolute() else quoted
