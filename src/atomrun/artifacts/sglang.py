"""SGLang's benchmark client: JSONL that it appends to (`sglang.bench_serving`, 0.4.6 to 0.5.23).

A crashed run leaves the lines of older ones, so exactly one record is accepted. It knows no date, model, prompt
count or `failed`; `total_throughput` appears with 0.5.10 and is input plus output before.
"""

from __future__ import annotations

from atomrun.results import Reading

from .layout import Layout, project
from .record import ArtifactError, Fault, Record, finite, read_record, split_records

__all__ = ["parse"]

_LAYOUT = Layout(
    format="sglang",
    client="SGLang's benchmark client",
    required={
        "duration": "duration",
        "completed": "completed",
        "total_input_tokens": "total_input_tokens",
        "total_output_tokens": "total_output_tokens",
        "request_throughput": "request_throughput",
        "output_throughput": "output_throughput",
    },
    optional={
        "failed": "failed",
        "max_concurrency": "max_concurrency",
        "total_throughput": "total_token_throughput",
        "request_goodput": "goodput",
        "max_output_tokens_per_s": "max_output_tokens_per_s",
        "accept_length": "mtp.speculative_tokens_avg",
    },
    families={"ttft": "ttft", "tpot": "tpot", "itl": "itl", "e2e_latency": "e2el"},
    always=("mean", "median", "std", "p99"),
    echo={
        "backend": "backend",
        "dataset_name": "dataset",
        "max_concurrency": "max_concurrency",
        "request_rate": "request_rate",
        "random_input_len": "input_len",
        "random_output_len": "output_len",
        "random_range_ratio": "range_ratio",
    },
    unread=frozenset({"input_throughput", "total_output_tokens_retokenized", "total_input_text_tokens"}),
)


def parse(text: str) -> Reading:
    """The reading of SGLang's result file. Raises `ArtifactError`."""
    lines = split_records(text)
    if len(lines) > 1 and all(line.lstrip().startswith("{") for line in lines):
        raise ArtifactError(
            Fault.SEVERAL_RECORDS,
            f"the artifact holds {len(lines)} records; which one is this cell's cannot be known",
            "the client appended to an older file: let each attempt write to a directory of its own",
        )
    return project(_LAYOUT, _with_total(read_record(text)))


def _with_total(record: Record) -> Record:
    parts = [finite(record.get(key)) for key in ("input_throughput", "output_throughput")]
    numbers = [part for part in parts if not isinstance(part, str)]
    if "total_throughput" in record or len(numbers) < len(parts):
        return record
    return {**record, "total_throughput": sum(numbers)}
