"""What a plan means: all that executes and judges, whatever the order in which the inputs wrote it.

The digest is taken over this, and `atomcfg diff` compares it. Object keys of the inputs have no order, so flags
that came from an object, cells that came from keys and the specs of a cell are sorted here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

from .packing import canonical

__all__ = ["meaning"]

_SHOWN_ONLY = ("digest", "seal", "provenance", "estimate", "plan_version")
_Record = dict[str, Any]


def meaning(document: _Record) -> _Record:
    """The meaning of a plan in its JSON form."""
    kept = {key: value for key, value in document.items() if key not in _SHOWN_ONLY}
    kept["servers"], server_at = _sorted([_server(server) for server in document["servers"]])
    commands = [_command(command) for command in document["commands"]]
    kept["commands"], command_at = _sorted([command for command, _ in commands])
    sessions = [(server_at[session["server"]], sorted(session["cells"])) for session in document["sessions"]]
    kept["sessions"] = sorted(sessions, key=itemgetter(1))
    reorder = [order for _, order in commands]
    cells = [_cell(cell, command_at, reorder) for cell in document["cells"]]
    kept["cells"] = sorted(cells, key=itemgetter("id"))
    kept["checks"] = {name: _check(value) for name, value in document["checks"].items()}
    return kept


def _sorted(table: list[_Record]) -> tuple[list[_Record], list[int]]:
    """A table in an order of its own, and where each entry went."""
    order = sorted(range(len(table)), key=lambda index: canonical(table[index]))
    return [table[index] for index in order], [order.index(index) for index in range(len(table))]


def _server(server: _Record) -> _Record:
    kept = {key: value for key, value in server.items() if key != "key"}
    return {**kept, "ranks": [{**rank, "argv": _groups(rank["argv"])} for rank in server["ranks"]]}


def _command(command: _Record) -> tuple[_Record, Callable[[list[Any]], Sequence[Any]]]:
    """A command with its flags sorted, and how the words of its cells follow."""
    holes = iter(range(len(command["argv"])))
    numbered = [{"word": next(holes)} if word is None else word for word in command["argv"]]
    groups = _groups(numbered)
    order = [word["word"] for group in groups for word in group if isinstance(word, dict) and "word" in word]
    argv = [[None if isinstance(word, dict) and "word" in word else word for word in group] for group in groups]
    kept = {**command, "argv": argv}
    return kept, itemgetter(*order) if len(order) > 1 and order != sorted(order) else _as_it_is


def _as_it_is(words: list[Any]) -> list[Any]:
    return words


def _cell(cell: _Record, command_at: list[int], reorder: list[Callable[[list[Any]], Sequence[Any]]]) -> _Record:
    """A cell as it runs, in whichever session."""
    kept = cell.copy()
    del kept["session"]
    kept["command"] = command_at[cell["command"]]
    kept["words"] = reorder[cell["command"]](cell["words"])
    kept["specs"] = sorted(cell["specs"])
    return kept


def _check(value: Any) -> Any:
    """A check, or a list of them, with the specs of each in one order."""
    if isinstance(value, list):
        return [_check(item) for item in value]
    return {**value, "specs": sorted(value["specs"])} if isinstance(value, dict) and "specs" in value else value


def _groups(argv: Sequence[Any]) -> list[list[Any]]:
    """An argv as leading words and flags with their values, sorted by flag; repeats keep their order."""
    groups: list[list[Any]] = [[]]
    for token in argv:
        if isinstance(token, str) and token.startswith("-") and len(token) > 1:
            groups.append([token])
        else:
            groups[-1].append(token)
    return [groups[0], *sorted(groups[1:], key=lambda group: str(group[0]))]
