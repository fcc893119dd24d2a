"""A server process from its first line to its exit code: the other ranks, loading, binding, the end."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, TypeVar

from aiohttp import web

from .console import SERVER_BANNER, fail, say
from .faults import Faults
from .group import Group, GroupError, Place, meet
from .knobs import Knobs

__all__ = ["Life", "answer_on", "bind", "farewell"]

Result = TypeVar("Result")

_NOISE = (
    "Warning: You are sending unauthenticated requests to the HF Hub. Please set a HF_TOKEN to enable higher rate "
    "limits and faster downloads.",
    "[aiter] not found tuned config in this shape, will use default config",
    "NCCL WARN Call to bind failed: Address already in use",
)
_ESCAPEE = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(300)"


class Life:
    """One server process. Its methods raise `SystemExit` with the real program's code where that would end.

    `mourn` prints the engine's last words for a reason.
    """

    def __init__(self, knobs: Knobs, faults: Faults, mourn: Callable[[str], None]) -> None:
        self._knobs, self._faults, self._mourn = knobs, faults, mourn
        self._ending = asyncio.Event()
        self._group: Group | None = None

    def begin(self, env: Mapping[str, str]) -> None:
        """The first line, the signal handlers and the faults that strike at once."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._asked_to_end)
        say(SERVER_BANNER)
        if self._faults.talkative:
            say(f"HF_TOKEN={env.get('HF_TOKEN', '')}")
        if self._faults.escape:
            # Out of the session and deaf to TERM: what a supervisor must find by other means than the group.
            child = subprocess.Popen([sys.executable, "-c", _ESCAPEE], start_new_session=True)
            say(f"escaped child process {child.pid}")
        for line in _NOISE if self._faults.noise else ():
            say(line)

    async def join(self, place: Place) -> None:
        """Meet the other ranks, if there are any."""
        if place.size == 1:
            return
        try:
            self._group = await self.unless_ended(meet(place, self._knobs))
        except GroupError as error:
            self._mourn(str(error))
            raise SystemExit(1) from None

    async def load(self, deaths: Mapping[str, tuple[Sequence[str], int]]) -> None:
        """Take the time that loading takes, on all ranks. `deaths`: the last lines and the exit code for each
        way to fail; a negative code is a signal."""
        if self._faults.hang_loading:
            await self.unless_ended(asyncio.Event().wait())
        await self.unless_ended(asyncio.sleep(self._knobs.load_s))
        if self._faults.die_loading:
            _die(self._faults.die_loading, deaths)
        if self._group:
            await self.unless_ended(self._group.barrier())

    async def unless_ended(self, work: Coroutine[object, object, Result]) -> Result:
        """The result of `work`; TERM or the loss of another rank ends the process instead."""
        task = asyncio.ensure_future(work)
        ending = asyncio.ensure_future(self._end())
        try:
            await asyncio.wait({task, ending}, return_when=asyncio.FIRST_COMPLETED)
            return task.result() if task.done() else sys.exit(ending.result())
        finally:
            task.cancel()
            ending.cancel()

    async def until_end(self) -> int:
        """Wait for TERM, for another rank's death or for the fault's hour; the exit code."""
        if not self._faults.die_after_s:
            return await self._end()
        await self.unless_ended(asyncio.sleep(self._faults.die_after_s))
        self._mourn("stand-in: this process was asked to die now")
        return self._faults.die_code

    async def _end(self) -> int:
        asked = asyncio.ensure_future(self._ending.wait())
        if self._group is None:
            await asked
            return 0
        both: list[asyncio.Future[Any]] = [asked, self._group.lost]
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if asked.done():
            return 0
        await asyncio.sleep(self._knobs.peer_grace_s)
        self._mourn(self._group.lost.result())
        return 1

    def _asked_to_end(self) -> None:
        if not self._faults.ignore_term:
            self._ending.set()


def _die(way: str, deaths: Mapping[str, tuple[Sequence[str], int]]) -> None:
    if way not in deaths:
        raise fail(f"STANDIN_FAULT_DIE_LOADING: one of {', '.join(deaths)} expected", 2)
    lines, code = deaths[way]
    for line in lines:
        say(line)
    if code < 0:
        os.kill(os.getpid(), -code)
    raise SystemExit(code)


def bind(host: str, port: int, faults: Faults) -> socket.socket:
    """A bound socket that does not listen yet. Raises `OSError` as the system says it."""
    with socket.create_server((host, port)) if faults.port_taken else nullcontext():
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError:
            listener.close()
            raise
        return listener


async def answer_on(listener: socket.socket, app: web.Application) -> None:
    """Answer requests on the listener, in the background, until the process ends."""
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.SockSite(runner, listener, backlog=2048).start()


def farewell(prefix: str) -> None:
    """The HTTP server's last lines, after it was asked to end."""
    for line in ("Shutting down", "Waiting for application shutdown.", "Application shutdown complete."):
        say(prefix + line)
    say(f"{prefix}Finished server process [{os.getpid()}]")
