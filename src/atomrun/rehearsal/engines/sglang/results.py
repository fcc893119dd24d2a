"""SGLang's result: the table on standard output and the fields of the line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from standin import table
from standin.console import say
from standin.dialect import Json
from standin.goodput import good_requests
from standin.load import Shot
from standin.peaks import peaks
from standin.stats import Spread
from standin.words import count

__all__ = ["Measured", "report"]

_LATENCIES = {
    "e2e_latency": ("E2E Latency", "End-to-End Latency"),
    "ttft": ("TTFT", "Time to First Token"),
    "tpot": ("TPOT", "Time per Output Token (excl. 1st token)"),
    "itl": ("ITL", "Inter-Token Latency"),
}
_PERCENTS = (90.0, 95.0, 99.0)


@dataclass(frozen=True)
class Measured:
    """What a run gave. `input_lens` are the client's own counts; `accept_length` is None without speculation."""

    shots: Sequence[Shot]
    input_lens: Sequence[int]
    seconds: float
    accept_length: float | None


def report(run: Measured, traffic: Mapping[str, Json], slos: Mapping[str, float]) -> dict[str, Json]:
    """Print the table; the result fields from `duration` on. `traffic`: backend, request_rate, max_concurrency.

    Raises `IndexError` if nothing succeeded, as numpy does there.
    """
    good = [shot for shot in run.shots if shot.ok]
    if not good:
        raise IndexError("index -1 is out of bounds for axis 0 with size 0")
    result = _totals(run, good)
    goodput = _goodput(run, slos) if slos else {}
    _print_totals(result, run, traffic)
    if slos:
        _print_goodput(goodput, slos)
    for metric, spread in _spreads(good).items():
        label, title = _LATENCIES[metric]
        table.section(title)
        fields = table.spread_rows(metric, label, spread, list(_PERCENTS))
        result |= {key: fields[key] for key in sorted(fields, key=_written_order)}
        if metric == "itl":
            table.number_row("Max ITL (ms):", spread.max() * 1000)
    table.close()
    tokens_a_second, requests_at_once = peaks(run.shots)
    return {
        **result,
        "concurrency": sum(shot.latency for shot in good) / run.seconds,
        "accept_length": run.accept_length,
        "max_output_tokens_per_s": tokens_a_second,
        "max_concurrent_requests": requests_at_once,
        **goodput,
    }


def _written_order(key: str) -> int:
    return ("mean", "median", "std", "p90", "p95", "p99").index(key.partition("_")[0])


def _totals(run: Measured, good: Sequence[Shot]) -> dict[str, Json]:
    read = sum(tokens for shot, tokens in zip(run.shots, run.input_lens, strict=True) if shot.ok)
    written = sum(shot.output_tokens for shot in good)
    return {
        "duration": run.seconds,
        "completed": len(good),
        "total_input_tokens": read,
        "total_input_text_tokens": read,
        "total_input_vision_tokens": 0,
        "total_output_tokens": written,
        "total_output_tokens_retokenized": sum(count(shot.text) for shot in good),
        "request_throughput": len(good) / run.seconds,
        "input_throughput": read / run.seconds,
        "output_throughput": written / run.seconds,
        "total_throughput": (read + written) / run.seconds,
    }


def _print_totals(result: Mapping[str, Json], run: Measured, traffic: Mapping[str, Json]) -> None:
    tokens_a_second, requests_at_once = peaks(run.shots)
    say()
    table.header()
    table.count_row("Backend:", traffic["backend"])
    table.count_row("Traffic request rate:", traffic["request_rate"])
    table.count_row("Max request concurrency:", traffic["max_concurrency"] or "not set")
    table.count_row("Successful requests:", result["completed"])
    table.number_row("Benchmark duration (s):", run.seconds)
    table.count_row("Total input tokens:", result["total_input_tokens"])
    table.count_row("Total input text tokens:", result["total_input_text_tokens"])
    table.count_row("Total generated tokens:", result["total_output_tokens"])
    table.count_row("Total generated tokens (retokenized):", result["total_output_tokens_retokenized"])
    table.number_row("Request throughput (req/s):", result["request_throughput"])
    table.number_row("Input token throughput (tok/s):", result["input_throughput"])
    table.number_row("Output token throughput (tok/s):", result["output_throughput"])
    table.number_row("Peak output token throughput (tok/s):", tokens_a_second)
    table.count_row("Peak concurrent requests:", requests_at_once)
    table.number_row("Total token throughput (tok/s):", result["total_throughput"])
    table.number_row("Concurrency:", sum(shot.latency for shot in run.shots if shot.ok) / run.seconds)
    if run.accept_length:
        table.number_row("Accept length:", run.accept_length)


def _goodput(run: Measured, slos: Mapping[str, float]) -> dict[str, Json]:
    many, all_good = len(run.shots), good_requests(run.shots, slos)
    each = {name: good_requests(run.shots, {name: limit}) / many for name, limit in slos.items()}
    return {
        "goodput_slos_ms": dict(slos),
        "request_goodput": all_good / run.seconds,
        "slo_attainment": all_good / many,
        "slo_attainment_by_metric": each,
    }


def _print_goodput(goodput: Mapping[str, Json], slos: Mapping[str, float]) -> None:
    table.section("Goodput")
    table.count_row("SLOs (ms):", " ".join(f"{name}:{limit:g}" for name, limit in slos.items()))
    table.number_row("Request goodput (req/s):", goodput["request_goodput"])
    table.number_row("SLO attainment (%):", goodput["slo_attainment"] * 100)
    for name, share in goodput["slo_attainment_by_metric"].items():
        table.number_row(f"{name.upper()} SLO attainment (%):", share * 100)


def _spreads(good: Sequence[Shot]) -> dict[str, Spread]:
    return {
        "e2e_latency": Spread.of(shot.latency for shot in good),
        "ttft": Spread.of(shot.ttft for shot in good),
        "tpot": Spread.of(shot.tpot() for shot in good if shot.output_tokens > 1),
        "itl": Spread(gap for shot in good for gap in shot.gaps),
    }
