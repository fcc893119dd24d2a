"""vLLM's result: the table on standard output and the fields of the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from standin import table
from standin.dialect import Json
from standin.goodput import good_requests
from standin.load import Shot, Traffic
from standin.peaks import peaks
from standin.stats import Spread

__all__ = ["Measured", "report"]

_QUEUE = ("Client Queue Time", "Client-side Queueing")
_QUEUE_AND_ALL = ("E2EL incl. Client Queue", "Queue-inclusive End-to-end Latency")


@dataclass(frozen=True)
class Measured:
    """What a run gave. `speculation` has the `spec_decode_*` fields, or nothing."""

    shots: Sequence[Shot]
    seconds: float
    traffic: Traffic
    speculation: Mapping[str, Json]


def report(
    run: Measured, metrics: Sequence[str], percents: list[float], slos: Mapping[str, float]
) -> dict[str, Json]:
    """Print the table; the result fields from `duration` on."""
    result = _totals(run, slos)
    _print_totals(result, run)
    titles = {**table.LATENCIES, "client_queue_time": _QUEUE, "e2el_including_client_queue": _QUEUE_AND_ALL}
    for metric, spread in _spreads(run).items():
        if metric in metrics:
            label, title = titles[metric]
            table.section(title)
            result |= table.spread_rows(metric, label, spread, percents)
    if run.speculation:
        _print_speculation(run.speculation)
    table.close()
    return result


def _totals(run: Measured, slos: Mapping[str, float]) -> dict[str, Json]:
    good = [shot for shot in run.shots if shot.ok]
    read = sum(shot.prompt_tokens for shot in good)
    written = sum(shot.output_tokens for shot in good)
    tokens_a_second, requests_at_once = peaks(run.shots)
    return {
        "duration": run.seconds,
        "completed": len(good),
        "failed": len(run.shots) - len(good),
        "total_input_tokens": read,
        "total_output_tokens": written,
        "request_throughput": len(good) / run.seconds,
        "request_goodput": good_requests(run.shots, slos) / run.seconds if slos else None,
        "output_throughput": written / run.seconds,
        "total_token_throughput": (read + written) / run.seconds,
        "input_lens": [shot.prompt_tokens for shot in run.shots],
        "output_lens": [shot.output_tokens if shot.ok else 0 for shot in run.shots],
        "ttfts": [shot.ttft for shot in run.shots],
        "itls": [[gap for gap, many in shot.gaps for _ in range(many)] for shot in run.shots],
        "latencies": [shot.latency for shot in run.shots],
        "start_times": [shot.started for shot in run.shots],
        "queue_times": [shot.queued for shot in run.shots],
        "generated_texts": [shot.text for shot in run.shots],
        "errors": [shot.error for shot in run.shots],
        "max_output_tokens_per_s": tokens_a_second,
        "max_concurrent_requests": requests_at_once,
        "rtfx": 0.0,
        **run.speculation,
    }


def _print_totals(result: Mapping[str, Json], run: Measured) -> None:
    table.header()
    table.count_row("Successful requests:", result["completed"])
    table.count_row("Failed requests:", result["failed"])
    if run.traffic.concurrency:
        table.count_row("Maximum request concurrency:", run.traffic.concurrency)
    if run.traffic.rate != float("inf"):
        table.number_row("Request rate configured (RPS):", run.traffic.rate)
    table.number_row("Benchmark duration (s):", run.seconds)
    table.count_row("Total input tokens:", result["total_input_tokens"])
    table.count_row("Total generated tokens:", result["total_output_tokens"])
    table.number_row("Request throughput (req/s):", result["request_throughput"])
    if result["request_goodput"] is not None:
        table.number_row("Request goodput (req/s):", result["request_goodput"])
    table.number_row("Output token throughput (tok/s):", result["output_throughput"])
    table.number_row("Peak output token throughput (tok/s):", result["max_output_tokens_per_s"])
    table.number_row("Peak concurrent requests:", result["max_concurrent_requests"])
    table.number_row("Total token throughput (tok/s):", result["total_token_throughput"])


def _spreads(run: Measured) -> dict[str, Spread]:
    good = [shot for shot in run.shots if shot.ok]
    spreads = {
        "ttft": Spread.of(shot.ttft for shot in good),
        "tpot": Spread.of(shot.tpot() for shot in good if shot.output_tokens > 1),
        "itl": Spread(gap for shot in good for gap in shot.gaps),
        "e2el": Spread.of(shot.latency for shot in good),
    }
    if run.traffic.concurrency:
        spreads["client_queue_time"] = Spread.of(shot.queued for shot in run.shots)
        spreads["e2el_including_client_queue"] = Spread.of(shot.queued + shot.latency for shot in good)
    return spreads


def _print_speculation(found: Mapping[str, Json]) -> None:
    table.section("Speculative Decoding")
    table.number_row("Acceptance rate (%):", found["spec_decode_acceptance_rate"])
    table.number_row("Acceptance length:", found["spec_decode_acceptance_length"])
    table.count_row("Drafts:", found["spec_decode_num_drafts"])
    table.count_row("Draft tokens:", found["spec_decode_draft_tokens"])
    table.count_row("Accepted tokens:", found["spec_decode_accepted_tokens"])
    for place, rate in enumerate(found["spec_decode_per_position_acceptance_rates"]):
        table.number_row(f"  Position {place}:", rate * 100)
