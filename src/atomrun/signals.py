"""Interrupts. A handler only counts and wakes who waits; what to do is decided where the waiting is done."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from types import FrameType

__all__ = ["Interrupted", "Interrupts"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(Exception):
    """The user asked the run to stop."""


class Interrupts:
    """The first signal asks for a graceful stop, the second for one at once; the third calls `give_up`, which
    notes what remains on the nodes and ends the process. `give_up` runs inside the handler: it must not write."""

    def __init__(self, give_up: Callable[[], None] = lambda: None, *, pressed: bool = False) -> None:
        """`pressed`: the first signal leaves no grace either; whoever sent it (a CI service) kills soon."""
        self.count = 0
        self.pressed = pressed
        self.give_up = give_up
        self._listeners: list[SimpleQueue[object]] = []

    @property
    def hurry(self) -> bool:
        """Stop without grace: after the second signal, or after the first where time presses."""
        return self.count > (0 if self.pressed else 1)

    def check(self) -> None:
        """Raise `Interrupted` if a signal came."""
        if self.count:
            raise Interrupted

    @contextmanager
    def wake(self, queue: SimpleQueue[object]) -> Iterator[None]:
        """While this lasts, a signal puts `self` into `queue` (`SimpleQueue.put` may be called from a handler)."""
        self._listeners.append(queue)
        try:
            yield
        finally:
            self._listeners.remove(queue)

    def interrupt(self) -> None:
        """What a signal does."""
        self.count += 1
        if self.count > 2:
            self.give_up()
        for queue in tuple(self._listeners):
            queue.put(self)

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Handle SIGINT, SIGTERM and SIGHUP while this lasts. Only the main thread may do this."""

        def handle(_number: int, _frame: FrameType | None) -> None:
            self.interrupt()

        before = {number: signal.signal(number, handle) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
