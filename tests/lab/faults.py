"""A TCP proxy that can be told to misbehave: to wait, to swallow, to hang up."""

from __future__ import annotations

import asyncio
import math
import socket
import struct
import threading
import time
from collections.abc import Coroutine
from contextlib import suppress
from types import TracebackType
from typing import Any, Self, TypeVar

__all__ = ["FaultProxy", "lapse"]

_CHUNK = 64 << 10
_QUEUED = 64  # chunks in flight per direction: enough for any delay, small enough to push back
_RESET = struct.pack("ii", 1, 0)  # linger on, zero seconds: close() sends RST

_T = TypeVar("_T")
_Queue = asyncio.Queue[tuple[float, bytes]]


def lapse(seconds: float) -> None:
    """Let time pass where its passing is the fault: an outage lasts, a second signal comes later."""
    time.sleep(seconds)


class FaultProxy:
    """Passes connections on `address` to `target`, as a context manager. Modes hold for old and new connections:

    * `passing()`: at once, the mode at the start
    * `delaying(seconds)`: each byte that much later, each way; what waits when the mode ends goes at once
    * `black_hole()`: connections stay open and nothing arrives; what was sent arrives when another mode begins, as
      TCP would send it again
    * `cut()`: connections are reset, and so is each new one until another mode begins
    """

    def __init__(self, address: tuple[str, int], target: tuple[str, int]) -> None:
        self.target = target
        self._listener = socket.create_server(address)
        self.address: tuple[str, int] = self._listener.getsockname()[:2]
        self._delay = 0.0  # infinite in a black hole
        self._cut = False
        self._changed = asyncio.Event()  # replaced at each change
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fault proxy", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._server = self._call(asyncio.start_server(self._connected, sock=self._listener))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._call(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def connections(self) -> int:
        """Connections that are open now."""
        return len(self._writers) // 2

    def passing(self) -> None:
        self._call(self._set(0.0))

    def delaying(self, seconds: float) -> None:
        self._call(self._set(seconds))

    def black_hole(self) -> None:
        self._call(self._set(math.inf))

    def cut(self) -> None:
        self._call(self._set(0.0, cut=True))

    def _call(self, action: Coroutine[Any, Any, _T]) -> _T:
        return asyncio.run_coroutine_threadsafe(action, self._loop).result(timeout=10)

    async def _set(self, delay: float, *, cut: bool = False) -> None:
        self._delay, self._cut = delay, cut
        self._changed.set()
        self._changed = asyncio.Event()
        if cut:
            for writer in list(self._writers):
                _reset(writer)

    async def _close(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if self._cut:
            _reset(writer)
            return
        with suppress(OSError, asyncio.CancelledError):
            far_reader, far_writer = await asyncio.open_connection(*self.target)
            self._writers |= {writer, far_writer}
            try:
                await asyncio.gather(self._pass(reader, far_writer), self._pass(far_reader, writer))
            finally:
                self._writers -= {writer, far_writer}
                far_writer.transport.abort()
        writer.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One direction, until its end or its failure."""
        queue: _Queue = asyncio.Queue(_QUEUED)
        sender = asyncio.ensure_future(self._send(queue, writer))
        try:
            while data := await reader.read(_CHUNK):
                await queue.put((self._loop.time(), data))
            await queue.put((self._loop.time(), b""))
            await sender
        finally:
            sender.cancel()

    async def _send(self, queue: _Queue, writer: asyncio.StreamWriter) -> None:
        while True:
            arrived, data = await queue.get()
            await self._hold(arrived)
            if not data:
                writer.write_eof()
                return
            writer.write(data)
            await writer.drain()

    async def _hold(self, arrived: float) -> None:
        """Return when what arrived then is due, under the mode of each moment."""
        while (left := arrived + self._delay - self._loop.time()) > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), None if math.isinf(left) else left)


def _reset(writer: asyncio.StreamWriter) -> None:
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    writer.transport.abort()
