"""A plan as its JSON document, in which what many cells share stands once.

Tables hold it: `gates` (a spec without its value), `sheets` (the gates of a cell, in order), `commands` (a client's
argv and environment; `null` marks a word that differs from cell to cell) and `servers`. Cells and sessions point
into them by index. The tables are sorted, so they do not depend on the order of the cells.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from itertools import compress
from operator import attrgetter, is_not, itemgetter
from typing import Any

from attrs import fields

from .plan import Cell, Checks, Plan, Session, Spec
from .tokens import Binding, Template, Token

__all__ = ["canonical", "pack"]

_TABLES = ("sessions", "cells", "checks")
_IN_COMMAND = ("argv", "env", "specs")
_IN_SERVER = ("key", "ranks", "probe", "ready_deadline_s")
_Document = dict[str, Any]
# What is encoded was built here or parsed, so it cannot hold itself.
_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False, check_circular=False
)


def canonical(document: Mapping[str, Any]) -> str:
    """The one text of a document: sorted keys, no spaces, ASCII."""
    return _ENCODER.encode(document)


def pack(plan: Plan) -> _Document:
    """The plan in its JSON form. A token is a text, or `{"parts": [text | {"bind": name, "value": text}]}`."""
    gates = _Gates(plan)
    commands = _Commands(plan.cells)
    servers = _Servers(plan.sessions)
    document = _record(plan, without=_TABLES)
    document["gates"], document["sheets"] = gates.table, [list(sheet) for sheet in gates.sheets]
    document["commands"] = commands.table
    document["servers"] = servers.table
    document["sessions"] = [_session(session, servers.index(session)) for session in plan.sessions]
    document["cells"] = [
        _cell(cell, sheet, commands) for cell, sheet in zip(plan.cells, gates.sheet_of, strict=True)
    ]
    document["checks"] = _checks(plan.checks, gates)
    return document


class _Gates:
    """Every spec as the index of its gate, and a value."""

    def __init__(self, plan: Plan) -> None:
        known: dict[tuple[Any, ...], int] = {}
        sheets = [_sheet(specs, known) for specs in _all_specs(plan)]
        ordered = sorted(known, key=repr)
        self.table = [dict(zip(_SHAPE, shape, strict=True)) for shape in ordered]
        place = {known[shape]: index for index, shape in enumerate(ordered)}
        renamed = {sheet: tuple(place[gate] for gate in sheet) for sheet in set(sheets)}
        of_cells = [renamed[sheet] for sheet in sheets[: len(plan.cells)]]
        self.sheets = sorted(set(of_cells))
        index = {sheet: number for number, sheet in enumerate(self.sheets)}
        self.sheet_of = [index[sheet] for sheet in of_cells]
        self._gate = {shape: place[number] for shape, number in known.items()}

    def pairs(self, specs: tuple[Spec, ...]) -> list[list[Any]]:
        """The specs of a check."""
        return [[self._gate[_shape(spec)], spec.value] for spec in specs]


def _sheet(specs: tuple[Spec, ...], known: dict[tuple[Any, ...], int]) -> tuple[int, ...]:
    """The gates of specs by number; a gate that is not known yet gets the next one."""
    return tuple([known.setdefault(shape, len(known)) for shape in map(_shape, specs)])


def _all_specs(plan: Plan) -> Iterable[tuple[Spec, ...]]:
    checks = plan.checks
    for owner in (*plan.cells, *checks.accuracy, *checks.long_context, checks.mtp_quality, checks.quant_parity):
        if owner is not None:
            yield owner.specs


class _Commands:
    """Commands of one length that run in one environment are one entry."""

    def __init__(self, cells: tuple[Cell, ...]) -> None:
        groups: dict[tuple[int, int], list[Cell]] = {}
        shared = _Shared()
        for cell in cells:
            groups.setdefault((len(cell.argv), shared.number(cell.env)), []).append(cell)
        made = [(_command(group), group) for group in groups.values()]
        made.sort(key=lambda entry: canonical(entry[0]))
        self.table = [command for command, _ in made]
        self._index = {id(cell): number for number, (_, group) in enumerate(made) for cell in group}
        self._pick = [_picker(command["argv"]) for command in self.table]

    def of(self, cell: Cell, directory: Any) -> tuple[int, list[Any]]:
        """The index of a cell's command, and the words that fill it; `directory` is the artifact's, as JSON."""
        index, own = self._index[id(cell)], cell.artifact.directory
        words = self._pick[index](cell.argv)
        return index, [directory if word is own else word if type(word) is str else _token(word) for word in words]


class _Shared:
    """Numbers for values, equal ones alike; the same object is compared once."""

    def __init__(self) -> None:
        self._by_identity: dict[int, int] = {}
        self._by_value: dict[object, int] = {}

    def number(self, value: object) -> int:
        known = self._by_identity.get(id(value))
        if known is None:
            known = self._by_value.setdefault(value, len(self._by_value))
            self._by_identity[id(value)] = known
        return known


def _command(cells: list[Cell]) -> _Document:
    base = cells[0].argv
    open_ = [False] * len(base)
    places = range(len(base))
    for cell in cells:
        # Most words are the same object, which is told without a step of the interpreter for each.
        for place in compress(places, map(is_not, base, cell.argv)):
            open_[place] = open_[place] or base[place] != cell.argv[place]
    words = [None if differs else _token(word) for word, differs in zip(base, open_, strict=True)]
    return {"argv": words, "env": _plain(cells[0].env)}


def _picker(argv: list[Any]) -> Callable[[tuple[Token, ...]], tuple[Token, ...]]:
    places = [place for place, word in enumerate(argv) if word is None]
    if len(places) == 1:
        return lambda words: (words[places[0]],)
    return itemgetter(*places) if places else lambda _words: ()


class _Servers:
    """What a session starts; sessions of one sweep start the same."""

    def __init__(self, sessions: tuple[Session, ...]) -> None:
        self._shared = _Shared()
        first = {self._number(session): session for session in reversed(sessions)}
        made = [({name: _plain(getattr(one, name)) for name in _IN_SERVER}, key) for key, one in first.items()]
        made.sort(key=lambda entry: canonical(entry[0]))
        self.table = [server for server, _ in made]
        self._index = {key: number for number, (_, key) in enumerate(made)}

    def _number(self, session: Session) -> tuple[object, ...]:
        return session.key, session.ready_deadline_s, *map(self._shared.number, (session.ranks, session.probe))

    def index(self, session: Session) -> int:
        return self._index[self._number(session)]


def _session(session: Session, server: int) -> _Document:
    return {"index": session.index, "server": server, "cells": list(session.cells)}


def _cell(cell: Cell, sheet: int, commands: _Commands) -> _Document:
    document = dict(zip(_CELL_FACTS, _cell_facts(cell), strict=True))
    artifact = cell.artifact
    directory = _token(artifact.directory)
    document["command"], document["words"] = commands.of(cell, directory)
    document["artifact"] = {"directory": directory, "name": artifact.name, "format": artifact.format}
    document["sheet"], document["values"] = sheet, [spec.value for spec in cell.specs]
    return document


def _checks(checks: Checks, gates: _Gates) -> _Document:
    document = _record(checks)
    for name in ("accuracy", "long_context"):
        document[name] = [_owner(item, gates) for item in getattr(checks, name)]
    for name in ("mtp_quality", "quant_parity"):
        check = getattr(checks, name)
        document[name] = None if check is None else _owner(check, gates)
    return document


def _owner(value: Any, gates: _Gates) -> _Document:
    return {**_record(value, without=("specs",)), "specs": gates.pairs(value.specs)}


def _record(value: Any, without: tuple[str, ...] = ()) -> _Document:
    return {name: _plain(getattr(value, name)) for name in _names(type(value)) if name not in without}


_NAMES: dict[type, tuple[str, ...]] = {}


def _names(kind: type) -> tuple[str, ...]:
    """The fields of a class of the plan; none for a plain value."""
    found = _NAMES.get(kind)
    if found is None:
        found = tuple(field.name for field in fields(kind)) if hasattr(kind, "__attrs_attrs__") else ()
        _NAMES[kind] = found
    return found


_SHAPE = tuple(name for name in _names(Spec) if name != "value")
_shape = attrgetter(*_SHAPE)
_CELL_FACTS = tuple(name for name in _names(Cell) if name not in (*_IN_COMMAND, "artifact"))
_cell_facts = attrgetter(*_CELL_FACTS)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Template):
        return _token(value)
    names = _names(type(value))
    return {name: _plain(getattr(value, name)) for name in names} if names else value


def _token(token: Token) -> Any:
    if isinstance(token, str):
        return token
    return {"parts": [part if isinstance(part, str) else _binding(part) for part in token.parts]}


def _binding(part: Binding) -> dict[str, str]:
    return {"bind": part.name} if part.value is None else {"bind": part.name, "value": part.value}
