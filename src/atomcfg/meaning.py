"""What a plan means: all that executes and judges, whatever the order in which the inputs wrote it.

The digest is taken over this, and `atomcfg diff` compares it. Object keys of the inputs have no order, so flags
that came from an object, cells that came from keys and the specs of a cell are sorted here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["meaning"]

_SHOWN_ONLY = ("digest", "seal", "provenance", "estimate", "plan_version")


def meaning(document: dict[str, Any]) -> dict[str, Any]:
    """The meaning of a plan in its JSON form."""
    kept = {key: value for key, value in document.items() if key not in _SHOWN_ONLY}
    kept["sessions"] = [_session(session) for session in document["sessions"]]
    kept["cells"] = sorted((_cell(cell) for cell in document["cells"]), key=lambda cell: str(cell["id"]))
    kept["checks"] = {name: _check(value) for name, value in document["checks"].items()}
    return kept


def _session(session: dict[str, Any]) -> dict[str, Any]:
    """A session stands for its cells, in whichever order they run."""
    ranks = [{**rank, "argv": _groups(rank["argv"])} for rank in session["ranks"]]
    rest = {key: value for key, value in session.items() if key not in ("key", "index")}
    return {**rest, "ranks": ranks, "cells": sorted(session["cells"])}


def _cell(cell: dict[str, Any]) -> dict[str, Any]:
    rest = {key: value for key, value in cell.items() if key != "session"}
    return {**rest, "argv": _groups(cell["argv"]), "specs": _specs(cell["specs"])}


def _check(value: Any) -> Any:
    """A check, or a list of them, with the specs of each in one order."""
    if isinstance(value, list):
        return [_check(item) for item in value]
    return {**value, "specs": _specs(value["specs"])} if isinstance(value, dict) and "specs" in value else value


def _specs(specs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(specs, key=lambda spec: str(spec["metric"]))


def _groups(argv: Sequence[Any]) -> list[list[Any]]:
    """An argv as leading words and flags with their values, sorted by flag; repeats keep their order."""
    groups: list[list[Any]] = [[]]
    for token in argv:
        if isinstance(token, str) and token.startswith("-") and len(token) > 1:
            groups.append([token])
        else:
            groups[-1].append(token)
    return [groups[0], *sorted(groups[1:], key=lambda group: str(group[0]))]
