"""A conversation that outlives its connections.

Requests wait for a connection, are repeated on the next one if theirs is lost, and end at their own deadline. All
requests to the agent can be repeated: each names what it is about, so that a second one finds the first one's work.
"""

from __future__ import annotations

import itertools
import random
import secrets
import threading
import time

from attrs import define, field

from atomrun.host import Busy, HostError, Refused

from .link import Link
from .pipes import Open
from .reasons import explain, hint_for
from .wire import Answer, Frame, request

__all__ = ["Channel"]

_ATTEMPT_S = 45.0  # for one connection, from the first byte to the agent's first words
_LEAST_S = 5.0  # an attempt in less time would only hide the reason of the one before
_PAUSES = (0.2, 0.5, 1.0, 2.0, 4.0, 8.0)  # between attempts, in s, each +-50 %


@define(eq=False)
class _Pending:
    command: str
    args: tuple[str, ...]
    payload: bytes
    answer: Answer = field(factory=Answer)


class Channel:
    """Thread-safe. One background thread keeps a connection up until `close`."""

    def __init__(self, node: str, opener: Open, root: str = "") -> None:
        self.node = node
        self.run = ""
        self.memory = False  # payloads stay in memory on the node
        self._lease_s = 0.0
        self._opener = opener
        self._root = root
        self._token = secrets.token_hex(8)  # tells the agent which launcher speaks, over all connections
        self._changed = threading.Condition()
        self._pending: dict[int, _Pending] = {}
        self._numbers = itertools.count(1)
        self._link: Link | None = None
        self._failure: HostError | None = None  # of the latest attempt to connect
        self._closed = False
        self._lost = threading.Event()

    def connect(self, timeout: float) -> None:
        """Make the first connection. Raises `HostError`; only what may pass at once is tried again."""
        deadline = time.monotonic() + timeout
        for pause in itertools.chain(_PAUSES, itertools.repeat(_PAUSES[-1])):
            try:
                self._attach(min(_ATTEMPT_S, deadline - time.monotonic()))
                break
            except HostError as error:
                passing = error.reason == "unreachable" and explain(self.node, error.message).passing
                if not passing or time.monotonic() + pause + _LEAST_S > deadline:
                    raise
                time.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311, only jitter
        threading.Thread(target=self._keep_up, name=f"atomrun {self.node}", daemon=True).start()

    def hold(self, run: str, lease_s: float) -> None:
        """From now on requests are about `run`, and pings keep its lease."""
        with self._changed:
            self.run, self._lease_s = run, lease_s
            if self._link is not None:
                self._link.hold(run, lease_s)

    def ask(self, command: str, *args: str, payload: bytes = b"", timeout: float) -> Answer:
        """The node's answer. Raises `HostError`, `Refused`, `Busy`, `FileNotFoundError`."""
        pending = _Pending(command, args, payload)
        deadline = time.monotonic() + timeout
        with self._changed:
            number = next(self._numbers)
            self._pending[number] = pending
            self._send(number)
            try:
                while not pending.answer.word:
                    self._check_open()
                    if not self._changed.wait(deadline - time.monotonic()) and time.monotonic() >= deadline:
                        raise self._late(command, timeout)
            finally:
                del self._pending[number]
        return self._judged(pending.answer)

    def tell(self, command: str, *args: str) -> None:
        """Ask, and do not care for an answer."""
        with self._changed:
            if self._link is not None:
                self._link.send(request(next(self._numbers), self.run, command, args, b""))

    def close(self) -> None:
        """End the connection in order. Jobs on the node go on. Safe to repeat."""
        with self._changed:
            self._closed = True
            link = self._link
            self._changed.notify_all()
        if link is not None:
            link.close()
            if not self._lost.wait(2.0):
                link.kill()
                self._lost.wait(2.0)
        else:
            self._lost.set()

    def _check_open(self) -> None:
        if self._closed:
            raise HostError(self.node, "unreachable", "the channel was closed")

    def _late(self, command: str, timeout: float) -> HostError:
        if self._link is None and self._failure is not None:
            return self._failure
        if self._link is not None:
            self._link.kill_if_silent()
        text = f"no answer to {command!r} within {timeout:.0f} s"
        return HostError(self.node, "timeout", text, hint_for("timeout", self.node))

    def _judged(self, answer: Answer) -> Answer:
        match answer.word:
            case "ok":
                return answer
            case "busy":
                owner = bytes(answer.out).decode("utf-8", "replace").splitlines()
                raise Busy(self.node, dict(line.split("=", 1) for line in owner if "=" in line))
            case "missing":
                raise FileNotFoundError(answer.message)
            case "refused" | "lease" | "driven" | "quarantined":
                raise Refused(self.node, answer.word, answer.message, hint_for(answer.word, self.node))
            case _:
                raise HostError(self.node, answer.word, answer.message, hint_for(answer.word, self.node))

    def _send(self, number: int) -> None:
        """Hand a request to the connection, if there is one; else `_attach` does."""
        pending = self._pending[number]
        if self._link is not None:
            self._link.send(request(number, self.run, pending.command, pending.args, pending.payload))

    def _attach(self, timeout: float) -> None:
        link = Link.establish(self.node, self._opener, self._root, self._token, timeout)
        with self._changed:
            self._lost.clear()
            if self.run:
                link.hold(self.run, self._lease_s)
            if self._closed or not link.attach(self._take, self._end):
                link.kill()
                self._lost.set()
                return
            self._link = link
            self._failure = None
            self.memory = link.memory
            for number, pending in self._pending.items():
                if not pending.answer.word:
                    pending.answer = Answer()
                    self._send(number)

    def _take(self, frame: Frame) -> None:
        with self._changed:
            pending = self._pending.get(frame.id)
            if pending is None or pending.answer.word:
                return
            try:
                pending.answer.add(frame)
            except ValueError as error:
                pending.answer.word, pending.answer.message = "protocol", str(error)
            if pending.answer.word:
                self._changed.notify_all()

    def _end(self) -> None:
        with self._changed:
            self._link = None
        self._lost.set()

    def _keep_up(self) -> None:
        """Connect again whenever the connection is lost."""
        failures = 0
        while True:
            self._lost.wait()
            with self._changed:
                pause = _PAUSES[min(failures, len(_PAUSES) - 1)] * random.uniform(0.5, 1.5)  # noqa: S311, only jitter
                if self._changed.wait_for(lambda: self._closed, pause):
                    return
            try:
                self._attach(_ATTEMPT_S)
                failures = 0
            except HostError as error:
                failures += 1
                with self._changed:
                    self._failure = error
