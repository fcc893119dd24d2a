"""ATOM's result: the table on standard output and the fields of the file."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from standin import table
from standin.console import say
from standin.dialect import Json
from standin.goodput import good_requests
from standin.load import Shot
from standin.stats import Spread

__all__ = ["Measured", "report"]


@dataclass(frozen=True)
class Measured:
    """What a run gave. `input_lens` are the client's own counts, in the order of `shots`."""

    shots: Sequence[Shot]
    input_lens: Sequence[int]
    seconds: float
    speculation: Mapping[str, Json]  # /debug/mtp_stats; empty without


def report(
    run: Measured, metrics: Sequence[str], percents: list[float], slos: Mapping[str, float]
) -> dict[str, Json]:
    """Print the table; the result fields from `duration` on."""
    good = [shot for shot in run.shots if shot.ok]
    if not good:
        warnings.warn(
            "All requests failed. This is likely due to a misconfiguration on the benchmark arguments.",
            stacklevel=2,
        )
    result = _totals(run, good, slos)
    _print_totals(result, run, slos)
    for metric, spread in _spreads(good).items():
        if metric in metrics:
            label, title = table.LATENCIES[metric]
            table.section(title)
            result |= table.spread_rows(metric, label, spread, percents)
    table.close()
    return result


def _totals(run: Measured, good: Sequence[Shot], slos: Mapping[str, float]) -> dict[str, Json]:
    read = sum(tokens for shot, tokens in zip(run.shots, run.input_lens, strict=True) if shot.ok)
    written = sum(shot.output_tokens for shot in good)
    return {
        "duration": run.seconds,
        "completed": len(good),
        "total_input_tokens": read,
        "total_output_tokens": written,
        "request_throughput": len(good) / run.seconds,
        # The colon is in the real program's key.
        "request_goodput:": good_requests(run.shots, slos) / run.seconds if slos else None,
        "output_throughput": written / run.seconds,
        "total_token_throughput": (read + written) / run.seconds,
        "concurrency": sum(shot.latency for shot in good) / run.seconds,
        "accept_length": run.speculation.get("average_tokens_per_forward"),
        "acceptance_rate": run.speculation.get("acceptance_rate"),
        "input_lens": list(run.input_lens),
        "output_lens": [shot.output_tokens if shot.ok else 0 for shot in run.shots],
        "ttfts": [shot.ttft for shot in run.shots],
        "itls": [[gap for gap, many in shot.gaps for _ in range(many)] for shot in run.shots],
        "generated_texts": [shot.text for shot in run.shots],
        "errors": [shot.error for shot in run.shots],
    }


def _print_totals(result: Mapping[str, Json], run: Measured, slos: Mapping[str, float]) -> None:
    table.header()
    table.count_row("Successful requests:", result["completed"])
    errors = Counter(shot.error.strip().splitlines()[-1] for shot in run.shots if not shot.ok)
    if errors:
        table.count_row("FAILED requests:", errors.total())
        for reason, many in errors.most_common(5):
            say(f"    {many:<8} {reason[:100]}")
    table.number_row("Benchmark duration (s):", run.seconds)
    table.count_row("Total input tokens:", result["total_input_tokens"])
    table.count_row("Total generated tokens:", result["total_output_tokens"])
    table.number_row("Request throughput (req/s):", result["request_throughput"])
    if slos:
        table.number_row("Request goodput (req/s):", result["request_goodput:"])
    table.number_row("Output token throughput (tok/s):", result["output_throughput"])
    table.number_row("Total Token throughput (tok/s):", result["total_token_throughput"])
    table.number_row("Concurrency:", result["concurrency"])
    if result["accept_length"]:
        table.number_row("Accept length:", result["accept_length"])
    if result["acceptance_rate"] is not None:
        table.number_row("Acceptance rate (%):", result["acceptance_rate"] * 100)


def _spreads(good: Sequence[Shot]) -> dict[str, Spread]:
    return {
        "ttft": Spread.of(shot.ttft for shot in good),
        "tpot": Spread.of(shot.tpot() for shot in good if shot.output_tokens > 1),
        "itl": Spread(gap for shot in good for gap in shot.gaps),
        "e2el": Spread.of(shot.latency for shot in good),
    }
