"""Speculative decoding as counts: what the engines report about draft tokens."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .batch import Batch

__all__ = ["Drafts", "drafts"]


@dataclass(frozen=True)
class Drafts:
    """Counts since the server's start. `accepted_by_step[n]` steps accepted exactly n draft tokens."""

    steps: int
    drafted: int
    accepted: int
    accepted_by_step: tuple[int, ...]

    @property
    def acceptance_rate(self) -> float:
        """Accepted over drafted, 0..1."""
        return self.accepted / self.drafted if self.drafted else 0.0

    @property
    def tokens_per_step(self) -> float:
        """Output tokens of one forward pass."""
        return (self.steps + self.accepted) / self.steps if self.steps else 0.0


def drafts(batch: Batch) -> Drafts:
    """The counts that fit the tokens generated so far; all zero without speculation."""
    depth, made = batch.speculative, batch.counters.generation_tokens
    if not depth:
        return Drafts(0, 0, 0, ())
    steps = math.ceil(made / batch.tokens_per_step())
    rate = (batch.tokens_per_step() - 1.0) / depth
    shares = [math.comb(depth, n) * rate**n * (1.0 - rate) ** (depth - n) for n in range(depth + 1)]
    return Drafts(steps, steps * depth, made - steps, tuple(round(steps * share) for share in shares))
