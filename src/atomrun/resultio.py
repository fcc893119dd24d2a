"""A run's result to and from `verdicts.json` (`schemas/results.schema.json`).

The text is canonical: sorted keys, ASCII, no number that is not finite. Nothing in the file of a rehearsal reads
PASS or FAIL: its verdict and every status carry the word REHEARSAL.
"""

from __future__ import annotations

import json
import math
from typing import Any

import cattrs

from .results import ExitCode, RunResult, Status
from .wording import headline, headlines, is_rehearsal

__all__ = ["SCHEMA_VERSION", "ResultError", "dump", "load"]

SCHEMA_VERSION = 1

_CONVERTER = cattrs.Converter(forbid_extra_keys=True)
_REHEARSED: dict[str, str] = {Status.PASS: "REHEARSAL HELD", Status.FAIL: "REHEARSAL MISSED"}
_PERFORMED: dict[str, str] = {written: status for status, written in _REHEARSED.items()}
_DERIVED = ("exit_code", "rehearsal")  # for readers of the file; not part of `RunResult`

Document = dict[str, Any]  # JSON


class ResultError(ValueError):
    """The text is not a result, or one of another version."""


def dump(result: RunResult) -> str:
    """The document of a result, with a line feed at its end."""
    document: Document = _CONVERTER.unstructure(result)
    document["verdict"] = headline(result)
    document["exit_code"] = ExitCode.of(result.verdict)
    document["rehearsal"] = is_rehearsal(result)
    for owner in (*document["cells"], *document["blocks"]):
        _drop_infinite(owner)
        for verdict in owner["verdicts"]:
            _write_verdict(verdict, document["rehearsal"])
    return json.dumps(document, indent=1, sort_keys=True, allow_nan=False) + "\n"


def load(text: str) -> RunResult:
    """The result that `text` holds. Raises `ResultError`."""
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise ResultError(f"not JSON: {error}") from None
    version = document.get("schema_version") if isinstance(document, dict) else None
    if version != SCHEMA_VERSION:
        raise ResultError(f"schema_version is {version!r}, this version reads {SCHEMA_VERSION}")
    try:
        return _CONVERTER.structure(_as_written(document), RunResult)
    except cattrs.BaseValidationError as error:
        raise ResultError("; ".join(cattrs.transform_error(error))) from None
    except (KeyError, TypeError) as error:
        raise ResultError(f"not a result: {error!r}") from None


def _as_written(document: Document) -> Document:
    """The document in the words of `RunResult`."""
    verdicts = {word: verdict for verdict, word in headlines(document["transport"] == "rehearsal").items()}
    for owner in (*document["cells"], *document["blocks"]):
        for verdict in owner["verdicts"]:
            verdict["status"] = _PERFORMED.get(verdict["status"], verdict["status"])
    kept = {name: value for name, value in document.items() if name not in _DERIVED}
    return {**kept, "verdict": verdicts.get(document["verdict"], document["verdict"])}


def _drop_infinite(owner: Document) -> None:
    """Take numbers that JSON cannot hold out of `values` and say so where the owner keeps its reasons."""
    lost = {name: value for name, value in owner["values"].items() if not math.isfinite(value)}
    owner["values"] = {name: value for name, value in owner["values"].items() if name not in lost}
    reasons = {name: f"not finite: {value}" for name, value in lost.items()}
    if "missing" in owner:
        owner["missing"] = {**owner["missing"], **reasons}
    else:
        owner["details"] = [*owner["details"], *(f"{name} is {reason}" for name, reason in reasons.items())]


def _write_verdict(verdict: Document, rehearsal: bool) -> None:
    for name in ("actual", "bound", "margin_pct"):
        number = verdict[name]
        if number is not None and not math.isfinite(number):
            verdict[name] = None
            verdict["reason"] = verdict["reason"] or f"{name} is not finite: {number}"
    if rehearsal:
        verdict["status"] = _REHEARSED.get(verdict["status"], verdict["status"])
