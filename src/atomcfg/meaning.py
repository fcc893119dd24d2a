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
_Order = Callable[[list[Any]], Sequence[Any]]


def meaning(document: _Record) -> _Record:
    """The meaning of a plan in its JSON form."""
    kept = {key: value for key, value in document.items() if key not in _SHOWN_ONLY}
    kept["servers"], server_at = _sorted([_server(server) for server in document["servers"]])
    commands = [_command(command) for command in document["commands"]]
    kept["commands"], command_at = _sorted([command for command, _ in commands])
    sessions = [(server_at[session["server"]], sorted(session["cells"])) for session in document["sessions"]]
    kept["sessions"] = sorted(sessions, key=itemgetter(1))
    sheets = [_sheet(sheet) for sheet in document["sheets"]]
    kept["sheets"], sheet_at = _sorted([sheet for sheet, _ in sheets])
    words = [(command_at[index], order) for index, (_, order) in enumerate(commands)]
    values = [(sheet_at[index], order) for index, (_, order) in enumerate(sheets)]
    cells = [_cell(cell, words, values) for cell in document["cells"]]
    kept["cells"] = sorted(cells, key=itemgetter("id"))
    kept["checks"] = {name: _check(value) for name, value in document["checks"].items()}
    return kept


def _sorted(table: list[Any]) -> tuple[list[Any], list[int]]:
    """A table in an order of its own, each entry once, and where each entry went."""
    texts = [canonical(entry) for entry in table]
    known = dict(zip(texts, table, strict=True))
    place = {text: index for index, text in enumerate(sorted(known))}
    return [known[text] for text in place], [place[text] for text in texts]


def _server(server: _Record) -> _Record:
    kept = {key: value for key, value in server.items() if key != "key"}
    return {**kept, "ranks": [{**rank, "argv": _groups(rank["argv"])} for rank in server["ranks"]]}


def _sheet(sheet: list[int]) -> tuple[list[int], _Order]:
    order = sorted(range(len(sheet)), key=sheet.__getitem__)
    return sorted(sheet), _picked(order)


def _command(command: _Record) -> tuple[_Record, _Order]:
    """A command with its flags sorted, and how the words of its cells follow."""
    holes = iter(range(len(command["argv"])))
    numbered = [{"word": next(holes)} if word is None else word for word in command["argv"]]
    groups = _groups(numbered)
    order = [word["word"] for group in groups for word in group if isinstance(word, dict) and "word" in word]
    argv = [[None if isinstance(word, dict) and "word" in word else word for word in group] for group in groups]
    return {**command, "argv": argv}, _picked(order)


def _picked(order: list[int]) -> _Order:
    return itemgetter(*order) if order != sorted(order) else _as_it_is


def _as_it_is(items: list[Any]) -> list[Any]:
    return items


def _cell(cell: _Record, words: list[tuple[int, _Order]], values: list[tuple[int, _Order]]) -> _Record:
    """A cell as it runs, in whichever session."""
    kept = cell.copy()
    del kept["session"]
    kept["command"], order = words[cell["command"]]
    kept["words"] = order(cell["words"])
    kept["sheet"], order = values[cell["sheet"]]
    kept["values"] = order(cell["values"])
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
