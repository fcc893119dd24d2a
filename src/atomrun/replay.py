"""What earlier launches of a run did, read from its journal. Pure: records in, values out.

A journal is input like any other: whoever wrote it, reading it raises `JournalError` or gives values of the right
types, and no name in it is used as a path.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import cattrs
from attrs import define, field, frozen

from .journal import JournalError
from .results import BlockResult, CellState

__all__ = ["Past", "replay"]

_CONVERTER = cattrs.Converter(forbid_extra_keys=True)
_SERVER = re.compile(r"server-(\d{1,6})\.(\d{1,6})")
_CELL = re.compile(r"cell-(\d{1,6})\.(\d{1,6})")
_ENDED_WELL = frozenset({"ok", "warning", "skipped"})
_FINISHED = frozenset({CellState.VALID.value, CellState.INVALID.value})

Record = Mapping[str, Any]


@frozen
class Past:
    """Nothing, for a first launch.

    `attempts`: the last one begun, by the cell's place in the plan. `judged`: cells whose last attempt was judged;
    `cells`: those of them that are finished, with the attempt.
    `stages`: those that ended well, or had nothing to do. `generations`: the last server started, by session.
    `open`: sessions whose server may still run and serve. `jobs`: begun and not known to have ended, in order.
    `nodes`: what is known of each rank's node. `mapped`: where a rehearsal has its nodes.
    """

    launches: int = 0
    run_id: str = ""
    digest: str = ""
    transport: str = ""
    began: str = ""
    options: Mapping[str, Any] = field(factory=dict)
    leave_out: Mapping[str, str] = field(factory=dict)
    attempts: Mapping[int, int] = field(factory=dict)
    judged: frozenset[str] = frozenset()
    cells: Mapping[str, int] = field(factory=dict)
    blocks: tuple[BlockResult, ...] = ()
    stages: frozenset[str] = frozenset()
    generations: Mapping[int, int] = field(factory=dict)
    open: frozenset[int] = frozenset()
    jobs: tuple[str, ...] = ()
    nodes: Mapping[int, Mapping[str, str]] = field(factory=dict)
    mapped: Mapping[str, str] = field(factory=dict)
    seconds: float = 0.0
    verdict: str = ""


@define
class _Reader:
    """Takes records one by one."""

    first: Record = field(factory=dict)
    launches: int = 0
    attempts: dict[int, int] = field(factory=dict)
    judged: dict[str, int] = field(factory=dict)
    cells: dict[str, int] = field(factory=dict)
    blocks: dict[tuple[str, str], BlockResult] = field(factory=dict)
    stages: set[str] = field(factory=set)
    generations: dict[int, int] = field(factory=dict)
    open: set[int] = field(factory=set)
    jobs: dict[str, None] = field(factory=dict)
    nodes: dict[int, Mapping[str, str]] = field(factory=dict)
    mapped: Mapping[str, str] = field(factory=dict)
    seconds: float = 0.0
    verdict: str = ""

    def take(self, record: Record) -> None:
        self.seconds = _number(record, "t")
        match record.get("event"):
            case "run":
                self._launch(record)
            case "begin" | "end" as way:
                self._step(way == "begin", record)
            case "cell":
                self._cell(record)
            case "block":
                self._block(record)
            case "node":
                self.nodes[_whole(record, "rank")] = _texts(record.get("known"))
            case "mapped":
                self.mapped = _texts(record.get("values"))
            case "verdict":
                self.verdict = _text(record, "verdict")
            case _:
                pass  # findings and notes are for people

    def _launch(self, record: Record) -> None:
        self.first = self.first or record
        for name in ("id", "digest", "transport", "began"):
            if _text(record, name) != self.first.get(name):
                raise JournalError(f"its launches differ in {name}")
        self.launches += 1
        self.verdict = ""
        self.stages.discard("report")

    def _step(self, begins: bool, record: Record) -> None:
        step = _text(record, "step")
        if step in ("job", "server"):
            self._process(begins, _text(record, "name"))
        elif step == "teardown" and not begins and record.get("status") in _ENDED_WELL:
            self.jobs.clear()
            self.open.clear()
        elif step in ("ready", "stop") and (begins == (step == "stop")) and record.get("status") != "ok":
            self.open.discard(_whole(record, "session"))
        elif not begins and record.get("status") in _ENDED_WELL:
            self.stages.add(step)

    def _process(self, begins: bool, name: str) -> None:
        if begins:
            self.jobs[name] = None
        else:
            self.jobs.pop(name, None)
        if found := _SERVER.fullmatch(name):
            session, generation = int(found[1]), int(found[2])
            self.generations[session] = max(generation, self.generations.get(session, 0))
            (self.open.add if begins else self.open.discard)(session)
        elif begins and (found := _CELL.fullmatch(name)):
            self.attempts[int(found[1])] = int(found[2])

    def _cell(self, record: Record) -> None:
        cell = _text(record, "id")
        self.judged[cell] = _whole(record, "attempt")
        self.cells.pop(cell, None)
        if record.get("state") in _FINISHED:
            self.cells[cell] = _whole(record, "attempt")

    def _block(self, record: Record) -> None:
        try:
            block = _CONVERTER.structure(record.get("result"), BlockResult)
        except (cattrs.BaseValidationError, TypeError, ValueError) as error:
            raise JournalError(f"a block's result is none: {error}") from None
        self.blocks[block.block, block.id] = block


def replay(records: Iterable[Record]) -> Past:
    """The state in which the launches left their run. Raises `JournalError`."""
    reader = _Reader()
    for record in records:
        reader.take(record)
    if not reader.launches:
        raise JournalError("no launch is recorded")
    first = reader.first
    return Past(
        launches=reader.launches,
        run_id=first["id"],
        digest=first["digest"],
        transport=first["transport"],
        began=first["began"],
        options=first.get("options") or {},
        leave_out=_texts(first.get("leave_out")),
        attempts=reader.attempts,
        judged=frozenset(reader.judged),
        cells=reader.cells,
        blocks=tuple(reader.blocks.values()),
        stages=frozenset(reader.stages),
        generations=reader.generations,
        open=frozenset(reader.open),
        jobs=tuple(reader.jobs),
        nodes=reader.nodes,
        mapped=reader.mapped,
        seconds=reader.seconds,
        verdict=reader.verdict if "report" in reader.stages else "",
    )


def _text(record: Record, name: str) -> str:
    value = record.get(name)
    if not isinstance(value, str):
        raise JournalError(f"{name} is no text in record {record.get('n')}")
    return value


def _whole(record: Record, name: str) -> int:
    value = record.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise JournalError(f"{name} is no count in record {record.get('n')}")
    return value


def _number(record: Record, name: str) -> float:
    value = record.get(name)
    if not isinstance(value, int | float):
        raise JournalError(f"{name} is no number in record {record.get('n')}")
    return float(value)


def _texts(value: object) -> Mapping[str, str]:
    if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
        raise JournalError("no table of texts where one belongs")
    return value
