"""What who watches gets to see: lines, JSON, a live picture."""

from __future__ import annotations

import io
import json

from rich.console import Console

from atomrun.events import Event, EventKind, JsonSink, PlainSink, Sink, stamped
from atomrun.live import LiveSink

BEGAN = Event(EventKind.RUN, "run-1", "began", "/runs/run-1", {"cells": 3})
RUNNING = Event(EventKind.STAGE, "bench", "running", data={"cell": "c0"})
CELL = Event(EventKind.CELL, "c0", "valid", "", {"output_throughput": 1234.5})
INVALID = Event(EventKind.CELL, "c1", "invalid", "the client ended with status 3")
SKIPPED = Event(EventKind.STAGE, "fabric", "skipped", "one node")
STORY = (BEGAN, RUNNING, CELL, INVALID, SKIPPED)


def told(sink: Sink) -> None:
    for event in STORY:
        sink.show(event)
    sink.close()


def test_plain_lines() -> None:
    out = io.StringIO()
    told(PlainSink(out))
    assert out.getvalue().splitlines() == [
        "     0.0s run run-1 began: /runs/run-1",
        "     0.0s cell c0 valid",
        "     0.0s cell c1 invalid: the client ended with status 3",
        "     0.0s stage fabric skipped: one node",
    ]
    out = io.StringIO()
    told(PlainSink(out, verbose=True))
    assert "     0.0s stage bench running" in out.getvalue().splitlines()


def test_a_note_is_a_sentence() -> None:
    out = io.StringIO()
    PlainSink(out).show(Event(EventKind.NOTE, "warning", "", "the log is cut", at=2))
    assert out.getvalue() == "     2.0s warning: the log is cut\n"


def test_json_lines() -> None:
    out = io.StringIO()
    told(JsonSink(out))
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert lines[2] == {
        "t": 0.0,
        "kind": "cell",
        "name": "c0",
        "status": "valid",
        "text": "",
        "output_throughput": 1234.5,
    }
    assert len(lines) == len(STORY)


def test_events_are_stamped_and_clean() -> None:
    out = io.StringIO()
    emit = stamped(JsonSink(out), lambda: 7.25, lambda text: text.replace("hush", "****"))
    emit(Event(EventKind.NOTE, "note", "", "hush", {"hint": "hush too", "count": 3}))
    line = json.loads(out.getvalue())
    assert (line["t"], line["text"], line["hint"], line["count"]) == (7.25, "****", "**** too", 3)


def test_a_live_picture() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=100, color_system=None)
    sink = LiveSink(console, budget_s=3600)
    for event in STORY:
        sink.show(event)
    picture = Console(file=io.StringIO(), width=100, color_system=None)
    picture.print(sink.picture())
    shown = picture.file.getvalue()
    sink.close()
    assert "bench c0" in shown
    assert "2 of 3 cells · 1 invalid · last 1,234 tok/s out" in shown
    assert "left" in shown
    assert "c1 invalid: the client ended with status 3" in out.getvalue()
    assert "skipped" not in out.getvalue()


def test_a_live_picture_over_its_budget() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=100, color_system=None)
    sink = LiveSink(console, budget_s=-1)
    picture = Console(file=io.StringIO(), width=100, color_system=None)
    picture.print(sink.picture())
    sink.close()
    assert "over its budget" in picture.file.getvalue()


def test_who_stops_reading_stops_nothing() -> None:
    class Closed(io.StringIO):
        def write(self, _: str) -> int:
            raise BrokenPipeError

    emit = stamped(PlainSink(Closed()), lambda: 0.0, str)
    emit(BEGAN)
    emit(CELL)
