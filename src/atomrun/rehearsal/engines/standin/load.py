"""The load generator: prompts over HTTP at an asked concurrency and rate, each request's times measured."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field

from .progress import Progress

__all__ = ["Prompt", "Shot", "Traffic", "arrivals", "volley"]


@dataclass(frozen=True)
class Prompt:
    """One request to be. Lengths in tokens."""

    text: str
    tokens: int
    output_tokens: int


@dataclass
class Shot:
    """One request that was. Times in seconds. `gaps` are inter-token times: each (seconds, tokens) pair stands
    for that many tokens, because a streamed chunk may carry several."""

    ok: bool = False
    error: str = ""
    started: float = 0.0
    queued: float = 0.0  # between its turn and its sending: the client's own concurrency limit
    ttft: float = 0.0
    latency: float = 0.0
    gaps: list[tuple[float, int]] = field(default_factory=list)
    prompt_tokens: int = 0  # as the server counted; 0 if it did not say
    output_tokens: int = 0
    text: str = ""

    def tpot(self) -> float:
        """Time per output token after the first; 0 for a single one."""
        return (self.latency - self.ttft) / (self.output_tokens - 1) if self.output_tokens > 1 else 0.0


@dataclass(frozen=True)
class Traffic:
    """How requests are sent: at `rate` a second (infinite: all at once), at most `concurrency` at a time."""

    rate: float
    burstiness: float
    concurrency: int | None
    seed: int


async def arrivals(prompts: Sequence[Prompt], traffic: Traffic) -> AsyncIterator[Prompt]:
    """The prompts at their times: gamma-distributed intervals, a Poisson process at burstiness 1."""
    rng = random.Random(traffic.seed)  # noqa: S311 - load, not secrets
    for prompt in prompts:
        yield prompt
        if traffic.rate != float("inf"):
            await asyncio.sleep(rng.gammavariate(traffic.burstiness, 1.0 / (traffic.rate * traffic.burstiness)))


async def volley(
    prompts: Sequence[Prompt],
    traffic: Traffic,
    send: Callable[[Prompt], Awaitable[Shot]],
    progress: Progress,
) -> tuple[list[Shot], float]:
    """Send all prompts; the shots in the prompts' order and the seconds it took."""
    gate = asyncio.Semaphore(traffic.concurrency) if traffic.concurrency else nullcontext()

    async def fire(prompt: Prompt) -> Shot:
        turn = time.perf_counter()
        async with gate:
            queued = time.perf_counter() - turn
            shot = await send(prompt)
        shot.queued = queued
        progress.step()
        return shot

    began = time.perf_counter()
    tasks = [asyncio.ensure_future(fire(prompt)) async for prompt in arrivals(prompts, traffic)]
    shots = await asyncio.gather(*tasks)
    seconds = time.perf_counter() - began
    progress.close()
    return list(shots), seconds
