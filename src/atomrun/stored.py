"""Cells from what a run's folder keeps of them: judged again, they come out as they did live."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import cattrs
from attrs import field, frozen

from atomcfg.plan import Cell, Plan

from .cells import Attempt, judge_cell
from .folder import attempt_folder
from .results import CellResult

__all__ = ["StoredError", "judge_stored"]

_CONVERTER = cattrs.Converter(forbid_extra_keys=True)


class StoredError(Exception):
    """What is kept of an attempt cannot be read, or is not of that attempt."""


@frozen
class _Facts:
    """`attempt.json`, as `collect` writes it."""

    cell: str
    attempt: int
    exit: int
    began: str
    seconds: float
    polled: Mapping[str, float] = field(factory=dict)


def judge_stored(folder: Path, plan: Plan, cell: Cell, attempt: int) -> CellResult:
    """The result of an attempt that ended, from its files below `folder`. Raises `StoredError`."""
    place = folder / attempt_folder(cell, attempt)
    path = place / "attempt.json"
    try:
        facts = _CONVERTER.structure(json.loads(path.read_text("utf-8")), _Facts)
    except OSError as error:
        raise StoredError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, TypeError, cattrs.BaseValidationError):
        raise StoredError(f"{path} is not what a run writes") from None
    if (facts.cell, facts.attempt) != (cell.id, attempt):
        raise StoredError(f"{path} is of attempt {facts.attempt} of {facts.cell!r}")
    artifact = place / cell.artifact.name
    text = artifact.read_text("utf-8", "replace") if artifact.is_file() else None
    return judge_cell(plan, cell, Attempt(attempt, facts.exit, text, facts.began, facts.seconds, facts.polled))
