"""ATOM's benchmark client: one JSON object (ROCm/ATOM, atom/benchmarks/benchmark_serving.py).

It never writes `failed`, and writes 0.0 for every statistic of a run in which nothing completed. The acceptance
rate and length are the server's, cumulative since it started.
"""

from __future__ import annotations

from atomrun.results import Reading

from .layout import Layout, project
from .record import read_record

__all__ = ["parse"]

_LAYOUT = Layout(
    format="atom",
    client="ATOM's benchmark client",
    required={
        "duration": "duration",
        "completed": "completed",
        "total_input_tokens": "total_input_tokens",
        "total_output_tokens": "total_output_tokens",
        "request_throughput": "request_throughput",
        "output_throughput": "output_throughput",
        "total_token_throughput": "total_token_throughput",
    },
    optional={
        "failed": "failed",
        "max_concurrency": "max_concurrency",
        "request_goodput": "goodput",
        "request_goodput:": "goodput",  # the colon is part of the key
        "acceptance_rate": "mtp.acceptance_rate",
        "accept_length": "mtp.speculative_tokens_avg",
    },
    families={"ttft": "ttft", "tpot": "tpot", "itl": "itl", "e2el": "e2el"},
    always=("mean", "median", "std"),
    echo={
        "date": "date",
        "model_id": "model_id",
        "backend": "backend",
        "num_prompts": "num_prompts",
        "max_concurrency": "max_concurrency",
        "request_rate": "request_rate",
        "burstiness": "burstiness",
    },
)


def parse(text: str) -> Reading:
    """The reading of ATOM's result file. Raises `ArtifactError`."""
    return project(_LAYOUT, read_record(text))
