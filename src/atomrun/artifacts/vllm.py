"""vLLM's benchmark client: one JSON object (`vllm bench serve --save-result`, 0.8.5 to 0.33).

`failed` appears with 0.11, `request_goodput` lost its colon with 0.9; the acceptance rate is a percentage.
"""

from __future__ import annotations

from atomrun.results import Reading

from .layout import Layout, project
from .record import read_record

__all__ = ["parse"]

_LAYOUT = Layout(
    format="vllm",
    client="vLLM's benchmark client",
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
        "request_goodput:": "goodput",
        "max_output_tokens_per_s": "max_output_tokens_per_s",
        "spec_decode_acceptance_rate": "mtp.acceptance_rate",
        "spec_decode_acceptance_length": "mtp.speculative_tokens_avg",
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
    scale={"spec_decode_acceptance_rate": lambda percent: percent / 100},
)


def parse(text: str) -> Reading:
    """The reading of vLLM's result file. Raises `ArtifactError`."""
    return project(_LAYOUT, read_record(text))
