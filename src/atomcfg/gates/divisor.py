"""Per-GPU floors that were set with CVS's divisor: it divides by TP alone, whatever PP and DP are."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["floors_by_tp"]

_SHARES = (("total_token_throughput", "per_gpu_throughput"), ("output_throughput", "output_tput_per_gpu"))
_TOLERANCE = 0.05  # bounds are rounded


def floors_by_tp(floors: Mapping[str, float], tp: int) -> tuple[str, ...]:
    """Which per-GPU metrics of one cell's `floors` (lower bounds by metric) are the total's floor over `tp`."""
    return tuple(
        share
        for whole, share in _SHARES
        if floors.get(whole) and floors.get(share) and abs(floors[whole] / floors[share] - tp) < _TOLERANCE * tp
    )
