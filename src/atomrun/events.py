"""What a run tells those who watch it. Stages emit values; `live` and the plain and JSON sinks show them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from enum import StrEnum
from typing import Protocol, TextIO

from attrs import field, frozen

__all__ = ["Event", "EventKind", "JsonSink", "PlainSink", "SilentSink", "Sink", "stamped"]

Value = str | int | float | None


class EventKind(StrEnum):
    RUN = "run"  # began, with its folder; ended, with its verdict
    STAGE = "stage"  # status "running" first, then its `StageStatus`
    FINDING = "finding"  # one line of a check's table
    CELL = "cell"
    BLOCK = "block"
    NOTE = "note"  # a warning, or what the next step waits for


@frozen
class Event:
    """One thing that happened. `at` is in seconds since the run began."""

    kind: EventKind
    name: str
    status: str
    text: str = ""
    data: Mapping[str, Value] = field(factory=dict)
    at: float = 0.0


class Sink(Protocol):
    """Shows events as they come. `close` ends a live display before anything else is printed."""

    def show(self, event: Event) -> None: ...

    def close(self) -> None: ...


class SilentSink:
    """For those who want the verdict only."""

    def show(self, event: Event) -> None:
        """Nothing to show."""

    def close(self) -> None:
        """Nothing to end."""


class JsonSink:
    """One JSON object a line, for machines."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def show(self, event: Event) -> None:
        record = {
            "t": round(event.at, 3),
            "kind": event.kind.value,
            "name": event.name,
            "status": event.status,
            "text": event.text,
            **event.data,
        }
        self._out.write(json.dumps(record, ensure_ascii=False) + "\n")
        self._out.flush()

    def close(self) -> None:
        """Nothing to end."""


class PlainSink:
    """One line an event, for logs and pipes. The start of a stage is not worth one unless `verbose`."""

    def __init__(self, out: TextIO, verbose: bool = False) -> None:
        self._out, self._verbose = out, verbose

    def show(self, event: Event) -> None:
        if event.status == "running" and event.kind is EventKind.STAGE and not self._verbose:
            return
        self._out.write(plain_line(event) + "\n")
        self._out.flush()

    def close(self) -> None:
        """Nothing to end."""


def plain_line(event: Event) -> str:
    """`  12.3s stage ready: ok (loaded in 10 s)`."""
    text = f": {event.text}" if event.text else ""
    what = event.name if event.kind is EventKind.NOTE else f"{event.kind.value} {event.name} {event.status}"
    return f"{event.at:8.1f}s {what}{text}"


def stamped(sink: Sink, now: Callable[[], float], clean: Callable[[str], str]) -> Callable[[Event], None]:
    """A function that stamps an event with the run's time, takes secrets out, and shows it."""

    def emit(event: Event) -> None:
        data = {key: clean(value) if isinstance(value, str) else value for key, value in event.data.items()}
        # A terminal that was closed, or a reader that left, is no reason to leave nodes as they are.
        with suppress(OSError, ValueError):
            sink.show(Event(event.kind, event.name, event.status, clean(event.text), data, now()))

    return emit
