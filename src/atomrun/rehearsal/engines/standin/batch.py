"""The latency model: continuous batching in a few lines.

A request waits for a slot, then for its prefill (a shared resource, first come first served), then decodes.
One output token takes `tpot_ms x (1 + batch_slope x (running - 1))`, divided by the tokens that one
speculative step yields. All is deterministic in the order of arrivals.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from .knobs import Knobs

__all__ = ["Batch", "Counters"]


@dataclass
class Counters:
    """What a server counts since its start. Latencies are in wall seconds."""

    finished: int = 0
    aborted: int = 0
    prompt_tokens: int = 0
    generation_tokens: int = 0
    ttft: list[float] = field(default_factory=list)
    latency: list[float] = field(default_factory=list)


class Batch:
    """The running requests of one server. `speculative` is the number of draft tokens a step, 0 without."""

    def __init__(self, knobs: Knobs, limit: int, speculative: int = 0) -> None:
        self.knobs = knobs
        self._slots = asyncio.Semaphore(max(1, min(knobs.max_batch, limit)))
        self._prefill_free = 0.0
        self.speculative = speculative
        self.running = 0
        self.waiting = 0
        self.counters = Counters()

    def tokens_per_step(self) -> float:
        """Mean output tokens of one forward pass."""
        return 1.0 + self.speculative * self.knobs.accept_rate

    async def generate(self, prompt_tokens: int, output_tokens: int) -> AsyncGenerator[int, None]:
        """Yield how many tokens are due, as they are; the first yield is the first token alone."""
        arrived = time.perf_counter()
        self.waiting += 1
        try:
            await self._slots.acquire()
        finally:
            self.waiting -= 1
        self.running += 1
        done = 0
        try:
            due = await self._prefill(prompt_tokens)
            self.counters.ttft.append(time.perf_counter() - arrived)
            done = 1
            yield 1
            while done < output_tokens:
                tokens, seconds = self._chunk(output_tokens - done)
                due += seconds
                await asyncio.sleep(due - time.perf_counter())
                done += tokens
                yield tokens
        finally:
            self.running -= 1
            self._slots.release()
            self._count(prompt_tokens, done, output_tokens, time.perf_counter() - arrived)

    async def _prefill(self, tokens: int) -> float:
        start = max(time.perf_counter(), self._prefill_free)
        self._prefill_free = start + tokens / self.knobs.prefill_tok_s / self.knobs.speed
        due = self._prefill_free + self._per_token()
        await asyncio.sleep(due - time.perf_counter())
        return due

    def _per_token(self) -> float:
        crowd = 1.0 + self.knobs.batch_slope * (self.running - 1)
        return self.knobs.tpot_ms / 1000.0 * crowd / self.tokens_per_step() / self.knobs.speed

    def _chunk(self, left: int) -> tuple[int, float]:
        each = self._per_token()
        tokens = min(left, max(1, math.ceil(self.knobs.chunk_ms / 1000.0 / each)))
        return tokens, tokens * each

    def _count(self, prompt_tokens: int, done: int, wanted: int, seconds: float) -> None:
        self.counters.prompt_tokens += prompt_tokens
        self.counters.generation_tokens += done
        if done < wanted:
            self.counters.aborted += 1
        else:
            self.counters.finished += 1
            self.counters.latency.append(seconds)
