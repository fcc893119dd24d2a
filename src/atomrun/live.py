"""A live picture of the run on a terminal: what happens now, how many cells are done, what the budget leaves."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import suppress

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from .events import Event, EventKind, plain_line
from .figures import duration, number

__all__ = ["LiveSink"]

_STYLES = {
    "ok": "green", "valid": "green", "warning": "yellow", "failed": "bold red", "error": "bold red",
    "invalid": "bold magenta", "incomplete": "bold magenta",
}  # fmt: skip
_QUIET = frozenset({"skipped", "running"})


class LiveSink:
    """Finished things scroll by as lines; the picture below them is redrawn four times a second.

    `budget_s` is the plan's upper bound. Everything is drawn from the events seen so far.
    """

    def __init__(self, console: Console, budget_s: int) -> None:
        self._console, self._budget = console, budget_s
        self._began = time.monotonic()
        self._now = ("", "", self._began)  # stage, cell, since
        self._cells, self._total = Counter[str](), 0
        self._speed: float | None = None
        self._live = Live(
            console=console, get_renderable=self.picture, refresh_per_second=4, transient=True, auto_refresh=True
        )
        self._live.start()

    def show(self, event: Event) -> None:
        self._note(event)
        if event.status in _QUIET:
            return
        self._console.print(Text(plain_line(event), style=_STYLES.get(event.status, "")), soft_wrap=True)

    def close(self) -> None:
        with suppress(OSError):  # the terminal was closed
            self._live.stop()

    def _note(self, event: Event) -> None:
        if event.kind is EventKind.RUN and event.status == "began":
            self._total = int(event.data.get("cells") or 0)
        elif event.kind is EventKind.STAGE and event.status == "running":
            self._now = (event.name, str(event.data.get("cell") or ""), time.monotonic())
        elif event.kind is EventKind.CELL:
            self._cells[event.status] += 1
            speed = event.data.get("output_throughput")
            self._speed = float(speed) if speed is not None else self._speed

    def picture(self) -> RenderableType:
        """The last lines on the terminal, as they are now."""
        stage, cell, since = self._now
        what = " ".join(part for part in (stage, cell) if part)
        line = Text(f"{what}  {duration(time.monotonic() - since)}", style="bold")
        parts = [f"{sum(self._cells.values())} of {self._total} cells"]
        parts += [f"{count} {state}" for state, count in sorted(self._cells.items()) if state != "valid"]
        if self._speed is not None:
            parts.append(f"last {number(self._speed)} tok/s out")
        left = self._budget - (time.monotonic() - self._began)
        parts.append(f"at most {duration(left)} left" if left > 0 else "over its budget")
        return Group(Spinner("dots", text=line), Text("  " + " · ".join(parts), style="dim"))
