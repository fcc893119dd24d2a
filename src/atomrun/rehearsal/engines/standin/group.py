"""The ranks of one server: they meet at the head's master port over TCP, and none outlives another for long."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field

from .knobs import Knobs

__all__ = ["Group", "GroupError", "Place", "meet"]

_RETRY_S = 0.05
_GO, _LOADED = b"go\n", b"loaded\n"


class GroupError(Exception):
    """The ranks did not come together."""


@dataclass(frozen=True)
class Place:
    """Where a rank stands: its number, how many there are, where rank 0 listens."""

    rank: int = 0
    size: int = 1
    address: str = "127.0.0.1"
    port: int = 0


@dataclass
class Group:
    """A rank's ties to the others. `lost` is done, with a text, when one of them is gone."""

    lost: asyncio.Future[str]
    members: dict[int, asyncio.StreamWriter] = field(default_factory=dict)
    loaded: set[int] = field(default_factory=set)
    all_loaded: asyncio.Event = field(default_factory=asyncio.Event)
    held: list[object] = field(default_factory=list)  # what lives as long as the group

    async def barrier(self) -> None:
        """Say that this rank has loaded; wait until every other one has said so."""
        for writer in self.members.values():
            writer.write(_LOADED)
        await self.all_loaded.wait()

    async def listen(self, reader: asyncio.StreamReader, rank: int) -> None:
        """Read what a rank says until its connection ends; then the group has lost it."""
        with contextlib.suppress(OSError):
            while line := await reader.readline():
                if line == _LOADED:
                    self.loaded.add(rank)
                if len(self.loaded) == len(self.members):
                    self.all_loaded.set()
        if not self.lost.done():
            self.lost.set_result(f"rank {rank} is gone")


async def meet(place: Place, knobs: Knobs) -> Group:
    """Wait until all ranks are there. Raises `GroupError`."""
    group = Group(asyncio.get_running_loop().create_future())
    work = _host(place, group) if place.rank == 0 else _join(place, group)
    try:
        await asyncio.wait_for(work, knobs.join_timeout_s)
    except TimeoutError as error:
        raise GroupError(f"Timed out after {knobs.join_timeout_s:g} seconds waiting for clients") from error
    return group


async def _host(place: Place, group: Group) -> None:
    complete: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def welcome(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        rank, _, size = (await reader.readline()).decode(errors="replace").strip().partition(" ")
        if complete.done() or not rank.isdigit():
            writer.close()
            return
        if size != str(place.size):
            complete.set_exception(GroupError(f"rank {rank} expects {size} ranks, rank 0 {place.size}"))
            return
        group.members[int(rank)] = writer
        if len(group.members) == place.size - 1:
            complete.set_result(None)
        # A task of its own: asyncio logs a traceback for one of a server's that is cancelled.
        group.held.append(asyncio.ensure_future(group.listen(reader, int(rank))))

    try:
        group.held.append(await asyncio.start_server(welcome, place.address, place.port))
    except OSError as error:
        raise GroupError(f"The server socket has failed to listen. port: {place.port}, message: {error}") from error
    await complete
    for member in group.members.values():
        member.write(_GO)


async def _join(place: Place, group: Group) -> None:
    while True:
        with contextlib.suppress(OSError):
            reader, writer = await asyncio.open_connection(place.address, place.port)
            writer.write(f"{place.rank} {place.size}\n".encode())
            if await reader.readline() == _GO:
                break
            writer.close()
        await asyncio.sleep(_RETRY_S)
    group.members[0] = writer
    group.held.append(asyncio.ensure_future(group.listen(reader, 0)))
