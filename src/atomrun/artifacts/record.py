"""One JSON object out of an artifact's text, with exact complaints about anything else."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from enum import StrEnum

__all__ = ["ArtifactError", "Fault", "Record", "finite", "json_text", "read_record", "split_records"]

Record = Mapping[str, object]

_DIGITS = 300  # longer integers cannot be floats
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_RERUN = "run the cell again; the client's log says why the file is not whole"


class Fault(StrEnum):
    """What is wrong with an artifact."""

    ABSENT = "absent"
    EMPTY = "empty"
    NOT_JSON = "not_json"
    TRUNCATED = "truncated"
    AMBIGUOUS = "ambiguous"  # one key with two values
    SEVERAL_RECORDS = "several_records"
    WRONG_RECORD = "wrong_record"  # JSON, but nothing that this client writes
    SCHEMA_CHANGED = "schema_changed"  # this client's record without a field that every known version writes


class ArtifactError(ValueError):
    """The text is not one whole record of its format. `hint` names the next thing to try."""

    def __init__(self, kind: Fault, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.kind, self.message, self.hint = kind, message, hint


def read_record(text: str) -> Record:
    """The one JSON object that `text` holds; `NaN` and `Infinity` are read as such. Raises `ArtifactError`."""
    if not text.strip():
        raise ArtifactError(Fault.EMPTY, "the artifact is empty", _RERUN)
    try:
        found: object = json.loads(text, object_pairs_hook=_unique, parse_int=_integer)
    except json.JSONDecodeError as error:
        raise _explain(text, error) from None
    except RecursionError:
        raise ArtifactError(Fault.NOT_JSON, "the artifact is nested too deeply to be a result", _RERUN) from None
    if not isinstance(found, dict):
        kind = type(found).__name__
        raise ArtifactError(
            Fault.WRONG_RECORD,
            f"expected a JSON object at the top of the artifact, got {kind}",
            "another program's file was collected: check the artifact's name",
        )
    return found


def split_records(text: str) -> tuple[str, ...]:
    """The lines of a JSONL artifact that hold something."""
    return tuple(line for line in text.splitlines() if line.strip())


def finite(raw: object) -> float | str:
    """`raw` as a finite number that is not negative (no metric here can be), or why it is none."""
    if raw is None:
        return "null in the artifact"
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        return f"not a number in the artifact: {json_text(raw)[:60]}"
    if not math.isfinite(raw):
        return f"not finite in the artifact: {raw}"
    if raw < 0:
        return f"negative in the artifact: {raw}"
    return float(raw)


def json_text(value: object) -> str:
    """`value` as valid JSON text: numbers that are not finite become strings."""
    return json.dumps(_sound(value), ensure_ascii=False, allow_nan=False)


def _sound(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, list):
        return [_sound(item) for item in value]
    if isinstance(value, dict):
        return {key: _sound(item) for key, item in value.items()}
    return value


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _DIGITS else math.inf


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ArtifactError(
            Fault.AMBIGUOUS, f'the artifact holds "{twice}" twice', "two programs may have written to one file"
        )
    return found


def _explain(text: str, error: json.JSONDecodeError) -> ArtifactError:
    rest = text[error.pos :].lstrip() if error.msg == "Extra data" else ""
    if rest.startswith("{"):
        return ArtifactError(
            Fault.SEVERAL_RECORDS,
            "the artifact holds more than one record; which one is this cell's cannot be known",
            "the client appended to an older file: let each attempt write to a directory of its own",
        )
    if text.lstrip().startswith("{") and _ends_inside(text):
        return ArtifactError(Fault.TRUNCATED, f"the artifact breaks off after {len(text)} characters", _RERUN)
    return ArtifactError(
        Fault.NOT_JSON,
        f"the artifact is not JSON: {error.msg} at line {error.lineno}, column {error.colno}",
        _RERUN,
    )


def _ends_inside(text: str) -> bool:
    """Whether the text stops within a string, an object or an array."""
    bare = _STRING.sub("", text)
    return '"' in bare or bare.count("{") > bare.count("}") or bare.count("[") > bare.count("]")
