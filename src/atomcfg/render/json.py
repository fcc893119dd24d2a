"""Diagnostics as one JSON document."""

from __future__ import annotations

import json
from collections.abc import Iterable

from atomcfg.diagnostics import Diagnostic, Severity, Span

__all__ = ["diagnostic_document", "render_json"]


def render_json(diagnostics: Iterable[Diagnostic]) -> str:
    """`{"diagnostics": [...], "errors": N, "warnings": N, "notes": N}`; pure ASCII, so it survives any terminal."""
    items = list(diagnostics)
    counts = {f"{severity}s": sum(item.severity is severity for item in items) for severity in Severity}
    document = {"diagnostics": [diagnostic_document(item) for item in items], **counts}
    return json.dumps(document, indent=2) + "\n"


def diagnostic_document(item: Diagnostic) -> dict[str, object]:
    """One diagnostic as JSON values. A place without a line is the file, or the option, as a whole."""
    return {
        "code": item.code,
        "severity": item.severity.value,
        "summary": item.summary,
        "hint": item.hint,
        **_place(item.span),
        "related": [{"message": related.message, **_place(related.span)} for related in item.related],
    }


def _place(span: Span) -> dict[str, object]:
    place: dict[str, object] = {"file": span.file, "path": span.path}
    if span.line:
        place |= {"line": span.line, "column": span.column, "end_column": span.end_column, "text": span.text}
    return place
