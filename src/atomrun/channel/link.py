"""One connection to a node's agent, from the bootstrap to its end."""

from __future__ import annotations

import contextlib
import queue
import secrets
import threading
import time
from collections.abc import Callable

from atomrun.host import HostError
from atomrun.node import BOOTSTRAP, agent

from .pipes import Open, Pipes
from .reasons import explain, hint_for
from .wire import Answer, Frame, Unframer, request

__all__ = ["Link"]

_PING_S = 5.0  # at most; keeps the lease, and tells the agent that we are there
_SILENCE_S = 25.0  # without any byte for so long, a connection is dead
_BOOT = {
    "root": ("disk", "the agent's directory below /var/tmp is not ours, or cannot be made"),
    "disk": ("disk", "the agent cannot be installed: no space?"),
    "tool": ("tool", "coreutils are missing"),
}


class Link:
    """Pipes to a serving agent, with a writer thread (requests, pings) and a reader thread (frames).

    `on_frame` gets every frame but those of pings; `on_end` is called once, when nothing more will come.
    """

    def __init__(self, node: str, pipes: Pipes, nonce: str) -> None:
        self._node = node
        self._pipes = pipes
        self._unframer = Unframer(nonce)
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._heard = time.monotonic()
        self._next_ping = self._heard + _PING_S
        self._stderr = ""
        self._open = True
        self._hello = Answer()
        self._ready = threading.Event()
        self._on_frame: Callable[[Frame], None] = lambda _frame: None
        self._on_end: Callable[[], None] = lambda: None
        self._run = ""
        self._ping_s = _PING_S
        self.memory = False  # the node has a memory file system for secrets

    @classmethod
    def establish(cls, node: str, opener: Open, root: str, token: str, timeout: float) -> Link:
        """Connect, install the agent, and wait for its first words. Raises `HostError`."""
        deadline = time.monotonic() + timeout
        nonce = secrets.token_hex(8)
        code = agent()
        argv = ["/bin/sh", "-c", BOOTSTRAP, "sh", nonce, code.sha256, str(len(code.text)), root or "-", token]
        link = cls(node, opener(argv, timeout), nonce)
        link._outbox.put(code.text)
        for work in (link._write, link._read):
            threading.Thread(target=work, name=f"atomrun {node}", daemon=True).start()
        if not link._ready.wait(max(0.1, deadline - time.monotonic())):
            link.kill()
            raise HostError(
                node, "shell", f"no answer from the node's shell in {timeout:.0f} s", hint_for("shell", node)
            )
        link._judge_hello()
        return link

    def attach(self, on_frame: Callable[[Frame], None], on_end: Callable[[], None]) -> bool:
        """Say who gets the answers; False if the connection has ended already."""
        self._on_frame, self._on_end = on_frame, on_end
        return self._open

    def hold(self, run: str, lease_s: float) -> None:
        """From now on, pings keep the lease of `run`."""
        self._run, self._ping_s = run, min(_PING_S, lease_s / 3)
        self._next_ping = time.monotonic()
        self.send(request(0, run, "ping", (), b""))

    def send(self, data: bytes) -> None:
        """Queue a request. Never blocks."""
        self._outbox.put(data)

    def close(self) -> None:
        """End in order: the agent sees the end of its input and leaves."""
        self._outbox.put(None)

    def kill(self) -> None:
        self._pipes.kill()

    def kill_if_silent(self) -> None:
        """Give up a connection that is open only by name."""
        if time.monotonic() - self._heard > _SILENCE_S:
            self.kill()

    def _judge_hello(self) -> None:
        hello = self._hello
        if hello.word == "ok":
            self.memory = hello.get("memory") == "yes"
            return
        self.kill()
        if not hello.word:
            failure = explain(self._node, self._stderr, self._unframer.noise.decode("utf-8", "replace"))
            raise HostError(self._node, failure.reason, failure.message, failure.hint)
        reason, message = (
            _BOOT.get(hello.word, (hello.word, "")) if not hello.message else (hello.word, hello.message)
        )
        reason = "disk" if reason == "nfs" else reason
        raise HostError(self._node, reason, message, hint_for(reason, self._node))

    def _read(self) -> None:
        while data := self._pipes.read():
            self._heard = time.monotonic()
            for frame in self._unframer.feed(data):
                if frame.id:
                    self._on_frame(frame)
                elif not self._ready.is_set():
                    self._hello.add(frame)
                    if self._hello.word:
                        self._ready.set()
        self._open = False
        self._stderr = self._pipes.errors()
        self._outbox.put(None)
        self._pipes.reap()
        self._ready.set()
        self._on_end()

    def _write(self) -> None:
        """Send what is queued, and pings in time."""
        # A broken pipe is no news: the reader sees the end of the connection.
        with contextlib.suppress(OSError):
            while (data := self._next()) is not None:
                self._pipes.write(data)
        self._pipes.close_input()

    def _next(self) -> bytes | None:
        try:
            return self._outbox.get(timeout=max(0.0, self._next_ping - time.monotonic()))
        except queue.Empty:
            self._next_ping = time.monotonic() + self._ping_s
            self.kill_if_silent()
            return request(0, self._run, "ping", (), b"") if self._ready.is_set() else b""
