"""The busiest second of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from .load import Shot

__all__ = ["peaks"]


def peaks(shots: Sequence[Shot]) -> tuple[float, int]:
    """Most output tokens, and most requests in flight, in any wall-clock second of the run.

    A request counts in every second that it touches, so the second number may exceed the concurrency limit.
    """
    good = [shot for shot in shots if shot.ok]
    if not good:
        return 0.0, 0
    zero = min(shot.started for shot in good)
    tokens: Counter[int] = Counter()
    flying: Counter[int] = Counter()
    for shot in good:
        at = shot.started - zero + shot.ttft
        tokens[int(at)] += 1
        for gap, many in shot.gaps:
            at += gap * many
            tokens[int(at)] += many
        flying.update(range(int(shot.started - zero), int(shot.started - zero + shot.latency) + 1))
    return float(max(tokens.values())), max(flying.values())
