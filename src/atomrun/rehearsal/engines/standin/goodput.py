"""Requests that meet their service level objectives."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence

from .load import Shot

__all__ = ["good_requests", "objectives"]

_MEASURES: Mapping[str, Callable[[Shot], float]] = {
    "ttft": lambda shot: shot.ttft,
    "tpot": Shot.tpot,
    "e2el": lambda shot: shot.latency,
}


def objectives(pairs: Sequence[str] | None) -> dict[str, float]:
    """`["ttft:40"]` as `{"ttft": 40.0}`, in ms. Raises as the clients do."""
    found = {}
    for pair in pairs or ():
        name, colon, value = pair.partition(":")
        try:
            found[name] = float(value if colon else "")
        except ValueError:
            raise argparse.ArgumentTypeError(
                "Invalid format found for service level objectives. Specify service level objectives for goodput "
                'as "KEY:VALUE" pairs, where the key is a metric name, and the value is a number in milliseconds.'
            ) from None
        if name not in _MEASURES or found[name] < 0:
            raise ValueError(f"Invalid metric name or value found, {name}: {found[name]}.")
    return found


def good_requests(shots: Sequence[Shot], wanted: Mapping[str, float]) -> int:
    """How many succeeded within all objectives."""
    return sum(
        shot.ok and all(_MEASURES[name](shot) * 1000.0 <= limit for name, limit in wanted.items()) for shot in shots
    )
