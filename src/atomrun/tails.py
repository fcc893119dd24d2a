"""On how few requests a percentile rests: of 100, p99 is the worst one, and jumps between identical runs."""

from __future__ import annotations

import math

__all__ = ["ENOUGH", "needed", "thin_tail"]

ENOUGH = 5
"""Requests beyond a percentile that make it more than its worst few."""

# One measurement a request; inter-token latency has one a token.
_SHARES = {f"p{percent}_{name}_ms": 100 - percent for percent in (90, 95, 99) for name in ("ttft", "tpot", "e2el")}


def thin_tail(metric: str, requests: float) -> int | None:
    """How many requests lie beyond a percentile (at least 1), if they are too few; None if they are enough."""
    share = _SHARES.get(metric)
    if share is None or requests * share >= 100 * ENOUGH:
        return None
    return max(1, math.floor(requests * share / 100))


def needed(metric: str) -> int:
    """From how many requests on a percentile counts."""
    return math.ceil(100 * ENOUGH / _SHARES[metric])
