"""A plan from its JSON document, with no conversions: a document has exactly the types that were written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from attrs import evolve, fields, frozen
from cattrs import Converter
from cattrs.errors import BaseValidationError
from cattrs.v import transform_error

from .plan import Cell, EnvVar, Plan, Probe, RankLaunch, Session, Spec
from .tokens import Binding, Template, Token

__all__ = ["unpack"]

_CELL_TABLES = ("command", "words", "sheet", "values")
_CELL_KEYS = {field.name for field in fields(Cell)} - {"argv", "env", "specs"} | set(_CELL_TABLES)
_Document = dict[str, Any]


@frozen
class _Gate:
    """A spec without its value."""

    metric: str
    kind: str
    tolerance_pct: float | None
    reference: str | None
    unit: str
    tier: str
    enforced: bool
    vacuous: bool


@frozen
class _Command:
    argv: tuple[Token | None, ...]
    env: tuple[EnvVar, ...]


@frozen
class _Server:
    key: str
    ranks: tuple[RankLaunch, ...]
    probe: Probe
    ready_deadline_s: int


@frozen
class _Session:
    index: int
    server: int
    cells: tuple[str, ...]


_TABLES: dict[str, Any] = {
    "gates": tuple[_Gate, ...],
    "sheets": tuple[tuple[int, ...], ...],
    "commands": tuple[_Command, ...],
    "servers": tuple[_Server, ...],
    "sessions": tuple[_Session, ...],
}


class _Specs:
    """The specs of a cell, from the index of its sheet and its values. Equal ones become one object."""

    def __init__(self, gates: Sequence[_Gate], sheets: Sequence[Sequence[int]]) -> None:
        makers = [_SpecMaker(gate) for gate in gates]
        self._sheets = [[makers[_within(gate, makers)] for gate in sheet] for sheet in sheets]

    def of(self, sheet: int, values: Sequence[Any]) -> tuple[Spec, ...]:
        makers = self._sheets[_within(sheet, self._sheets)]
        return tuple([maker[value] for maker, value in zip(makers, values, strict=True)])


class _SpecMaker(dict[float | None, Spec]):
    """The specs of one gate by value, made when they are first asked for."""

    def __init__(self, gate: _Gate) -> None:
        super().__init__()
        self._fixed = {field.name: getattr(gate, field.name) for field in fields(_Gate)}

    def __missing__(self, value: float | None) -> Spec:
        made = self[value] = Spec(value=None if value is None else _strict(value, float), **self._fixed)
        return made


def unpack(document: _Document) -> Plan:
    """The plan of a document that `pack` made. `ValueError` says what does not fit, and where."""
    part = "plan"
    try:
        converter = _converter()
        tables: dict[str, Any] = {}
        for name, kind in _TABLES.items():
            part = f"plan.{name}"
            tables[name] = converter.structure(document[name], kind)
        specs = _Specs(tables["gates"], tables["sheets"])
        sessions = tuple(_session(session, tables["servers"]) for session in tables["sessions"])
        make = _cell_maker(converter, tables["commands"], specs)
        cells = []
        for index, body in enumerate(document["cells"]):
            part = f"plan.cells[{index}]"
            cells.append(make(body))
        part = "plan"
        rest = {name: value for name, value in document.items() if name not in _TABLES}
        checks = {name: _full(value, document["gates"]) for name, value in document["checks"].items()}
        plan = converter.structure({**rest, "checks": checks, "sessions": (), "cells": ()}, Plan)
        return evolve(plan, sessions=sessions, cells=tuple(cells))
    except BaseValidationError as error:
        raise ValueError("; ".join(transform_error(error, path=part)[:3])) from None
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise ValueError(f"{part}: {error}") from None


def _full(value: Any, gates: Sequence[_Document]) -> Any:
    """A check, or a list of them, with its specs written out."""
    if isinstance(value, list):
        return [_full(item, gates) for item in value]
    if not (isinstance(value, dict) and "specs" in value):
        return value
    specs = [{**gates[_within(gate, gates)], "value": bound} for gate, bound in value["specs"]]
    return {**value, "specs": specs}


def _session(session: _Session, servers: Sequence[_Server]) -> Session:
    server = servers[_within(session.server, servers)]
    return Session(session.index, server.key, server.ranks, server.probe, server.ready_deadline_s, session.cells)


def _within(index: int, table: Sequence[object]) -> int:
    if not 0 <= index < len(table):
        raise IndexError(f"no entry {index} in a table of {len(table)}")
    return index


def _cell_maker(converter: Converter, commands: Sequence[_Command], specs: _Specs) -> Callable[[Any], Cell]:
    """Cells are many: one generated function reads their scalars, their words fill the command's argv."""
    structure = converter.get_structure_hook(Cell)
    holes = [tuple(place for place, word in enumerate(command.argv) if word is None) for command in commands]

    def make(body: _Document) -> Cell:
        if body.keys() != _CELL_KEYS:
            raise ValueError(f"cells have the keys {', '.join(sorted(_CELL_KEYS))}")
        command = commands[_within(body["command"], commands)]
        argv = list(command.argv)
        for place, word in zip(holes[body["command"]], body["words"], strict=True):
            argv[place] = _structure_token(word, Token)
        own = {name: value for name, value in body.items() if name not in _CELL_TABLES}
        cell: Cell = structure({**own, "argv": (), "env": (), "specs": ()}, Cell)
        return evolve(
            cell,
            argv=tuple(word for word in argv if word is not None),
            env=command.env,
            specs=specs.of(body["sheet"], body["values"]),
        )

    return make


@cache
def _converter() -> Converter:
    converter = Converter(forbid_extra_keys=True)
    converter.register_structure_hook(Token, _structure_token)
    converter.register_structure_hook(Token | None, _structure_optional)
    for scalar in (str, int, float, bool):
        converter.register_structure_hook(scalar, _strict)
    return converter


def _strict(value: Any, kind: type) -> Any:
    fits = isinstance(value, kind) and not (kind is int and isinstance(value, bool))
    if kind is float:
        fits = isinstance(value, int | float) and not isinstance(value, bool)
    if not fits:
        raise TypeError(f"expected {kind.__name__}, found {type(value).__name__}")
    return float(value) if kind is float else value


def _structure_optional(value: Any, kind: Any) -> Token | None:
    return None if value is None else _structure_token(value, kind)


def _structure_token(value: Any, _kind: Any) -> Token:
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and set(value) == {"parts"} and isinstance(value["parts"], list):
        return Template(tuple(_structure_part(part) for part in value["parts"]))
    raise TypeError(f"expected a token, found {type(value).__name__}")


def _structure_part(part: Any) -> str | Binding:
    if isinstance(part, str):
        return part
    if isinstance(part, dict) and set(part) <= {"bind", "value"} and isinstance(part.get("bind"), str):
        value = part.get("value")
        if value is None or isinstance(value, str):
            return Binding(part["bind"], value)
    raise TypeError("expected text or a binding")
