"""The result table that the benchmark clients print, 50 columns wide."""

from __future__ import annotations

from .console import say
from .stats import Spread

__all__ = ["LATENCIES", "close", "count_row", "header", "number_row", "percentile_name", "section", "spread_rows"]

LATENCIES = {
    "ttft": ("TTFT", "Time to First Token"),
    "tpot": ("TPOT", "Time per Output Token (excl. 1st token)"),
    "itl": ("ITL", "Inter-token Latency"),
    "e2el": ("E2EL", "End-to-end Latency"),
}


def header() -> None:
    """The first line."""
    say(f"{' Serving Benchmark Result ':=^50}")


def section(title: str) -> None:
    """A heading."""
    say(f"{title:-^50}")


def count_row(label: str, value: object) -> None:
    """A label and a value as it is."""
    say(f"{label:<40} {value!s:<10}")


def number_row(label: str, value: float) -> None:
    """A label and a number with two decimals."""
    say(f"{label:<40} {value:<10.2f}")


def close() -> None:
    """The last line."""
    say("=" * 50)


def percentile_name(percent: float) -> str:
    """99.0 as `99`, 99.9 as `99.9`."""
    return str(int(percent)) if int(percent) == percent else str(percent)


def spread_rows(metric: str, label: str, spread: Spread, percents: list[float]) -> dict[str, float]:
    """Print a latency's lines; its result fields, in ms. `spread` is in seconds."""
    found = {
        f"mean_{metric}_ms": spread.mean() * 1000,
        f"median_{metric}_ms": spread.percentile(50) * 1000,
        f"std_{metric}_ms": spread.std() * 1000,
    }
    number_row(f"Mean {label} (ms):", found[f"mean_{metric}_ms"])
    number_row(f"Median {label} (ms):", found[f"median_{metric}_ms"])
    for percent in percents:
        name = percentile_name(percent)
        found[f"p{name}_{metric}_ms"] = spread.percentile(percent) * 1000
        number_row(f"P{name} {label} (ms):", found[f"p{name}_{metric}_ms"])
    return found
