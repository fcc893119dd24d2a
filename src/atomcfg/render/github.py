"""Diagnostics as workflow commands, which GitHub shows beside the changed lines.

Escaping rules: GitHub's `actions/toolkit`, `packages/core/src/command.ts`.
"""

from __future__ import annotations

from collections.abc import Iterable

from atomcfg.diagnostics import Diagnostic, Severity, Span

__all__ = ["render_github"]

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = _DATA | str.maketrans({":": "%3A", ",": "%2C"})


def render_github(diagnostics: Iterable[Diagnostic]) -> str:
    """One `::error file=...,line=...::message` line for each diagnostic."""
    return "".join(f"{_command(item)}\n" for item in diagnostics)


def _command(item: Diagnostic) -> str:
    properties = {**_place(item.span), "title": f"{item.code} {item.span.path}".strip()}
    stated = ",".join(f"{name}={_escape(value, _PROPERTY)}" for name, value in properties.items())
    message = [item.summary]
    message += [f"{related.message}: {related.span.file}:{related.span.line}" for related in item.related]
    message += [f"hint: {item.hint}"] if item.hint else []
    return f"::{_COMMANDS[item.severity]} {stated}::{_escape(chr(10).join(message), _DATA)}"


def _place(span: Span) -> dict[str, str]:
    if not span.line:
        return {"file": span.file}
    place = {"file": span.file, "line": str(span.line), "col": str(span.column)}
    # GitHub takes the end for inclusive, and refuses one before the start.
    return place | ({"endColumn": str(span.end_column - 1)} if span.end_column > span.column else {})


def _escape(text: str, table: dict[int, str]) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8").translate(table)
