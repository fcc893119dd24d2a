"""Mean, deviation and percentiles as numpy computes them, over samples that may stand for several values."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate

__all__ = ["Spread"]


class Spread:
    """The statistics of weighted values. Without any value everything is 0, as in the clients."""

    def __init__(self, samples: Iterable[tuple[float, int]]) -> None:
        ordered = sorted((value, weight) for value, weight in samples if weight > 0) or [(0.0, 1)]
        self._values = [value for value, _ in ordered]
        self._weights = [weight for _, weight in ordered]
        self._ends = list(accumulate(self._weights))

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        """Each value once."""
        return cls((value, 1) for value in values)

    def mean(self) -> float:
        """The arithmetic mean."""
        return self._sum(self._values) / self._ends[-1]

    def std(self) -> float:
        """The population's standard deviation."""
        mean = self.mean()
        return math.sqrt(self._sum([(value - mean) ** 2 for value in self._values]) / self._ends[-1])

    def percentile(self, percent: float) -> float:
        """Linear interpolation between the neighbours."""
        place = (self._ends[-1] - 1) * percent / 100.0
        low, high = self._at(math.floor(place)), self._at(math.ceil(place))
        return low + (high - low) * (place - math.floor(place))

    def max(self) -> float:
        """The largest value."""
        return self._values[-1]

    def _at(self, index: int) -> float:
        return self._values[bisect_right(self._ends, index)]

    def _sum(self, values: Iterable[float]) -> float:
        return math.fsum(value * weight for value, weight in zip(values, self._weights, strict=True))
