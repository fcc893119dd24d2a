"""Waits for jobs on any number of nodes at once, without polling: one thread blocks per wait, all report to one
queue."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from queue import Empty, SimpleQueue

from attrs import frozen

from .host import Exit, Host, HostError
from .signals import Interrupts

__all__ = ["Broken", "Ended", "Watch"]


@frozen
class Ended:
    """A job ended on the node of this rank."""

    rank: int
    exit: Exit


@frozen
class Broken:
    """The node of this rank could not be asked any more."""

    rank: int
    error: HostError


class Watch:
    """Everything that may end while a session is open. A wait ends with its job, so nothing has to be cancelled:
    whoever stops a job also ends the wait for it."""

    def __init__(self, interrupts: Interrupts) -> None:
        self._interrupts = interrupts
        self._queue: SimpleQueue[object] = SimpleQueue()

    def follow(self, host: Host, names: Sequence[str], timeout: float) -> None:
        """Report the first of these jobs to end; nothing is reported when `timeout` passes first."""
        threading.Thread(
            target=self._wait, args=(host, tuple(names), timeout), daemon=True, name=f"wait-{host.rank}"
        ).start()

    def next(self, timeout: float) -> Ended | Broken | None:
        """The next thing that happened; None at `timeout`. Raises `Interrupted` as soon as a signal comes."""
        deadline = time.monotonic() + timeout
        with self._interrupts.wake(self._queue):
            while True:
                self._interrupts.check()
                try:
                    item = self._queue.get(timeout=max(0.0, deadline - time.monotonic()))
                except Empty:
                    return None
                if isinstance(item, Ended | Broken):
                    return item

    def _wait(self, host: Host, names: tuple[str, ...], timeout: float) -> None:
        try:
            found = host.wait(names, timeout)
        except HostError as error:
            self._queue.put(Broken(host.rank, error))
            return
        if found is not None:
            self._queue.put(Ended(host.rank, found))
