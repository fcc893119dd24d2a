"""The parameters of a run: kind and default of each, the same in all dialects."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

__all__ = ["PARAMS", "ParamKind"]


class ParamKind(StrEnum):
    TEXT = "text"
    COUNT = "count"  # a whole number
    NUMBER = "number"  # kept as written, so that argv shows what the file says
    FLAG = "flag"


PARAMS: Mapping[str, tuple[ParamKind, object]] = MappingProxyType({
    "backend": (ParamKind.TEXT, "vllm"),
    "base_url": (ParamKind.TEXT, "http://0.0.0.0"),
    "port_no": (ParamKind.COUNT, 8000),
    "dataset_name": (ParamKind.TEXT, "random"),
    "request_rate": (ParamKind.NUMBER, "inf"),
    "random_range_ratio": (ParamKind.NUMBER, "0.8"),
    "random_prefix_len": (ParamKind.COUNT, 0),
    "burstiness": (ParamKind.NUMBER, "1.0"),
    "seed": (ParamKind.COUNT, 0),
    "tokenizer_mode": (ParamKind.TEXT, "auto"),
    "percentile_metrics": (ParamKind.TEXT, "ttft,tpot,itl,e2el"),
    "metric_percentiles": (ParamKind.TEXT, "95,99"),
    "num_prompts": (ParamKind.COUNT, 1000),
    "max_model_length": (ParamKind.COUNT, 8192),
    "tensor_parallelism": (ParamKind.COUNT, 8),
    "pipeline_parallel_size": (ParamKind.COUNT, 1),
    "nnodes": (ParamKind.COUNT, 1),
    "master_addr": (ParamKind.TEXT, None),
    "master_port": (ParamKind.COUNT, 29501),
    "bench_max_failed_requests": (ParamKind.COUNT, 0),
    "reuse_server_across_sweep": (ParamKind.FLAG, False),
    "result_filename": (ParamKind.TEXT, "results"),
    "server_precheck_wait_s": (ParamKind.COUNT, 30),
    "server_warmup_wait_s": (ParamKind.COUNT, 330),
    "server_poll_count": (ParamKind.COUNT, 60),
    "server_poll_wait_time": (ParamKind.COUNT, 60),
    "client_initial_wait_s": (ParamKind.COUNT, 120),
    "client_poll_count": (ParamKind.COUNT, 50),
    "client_poll_wait_time": (ParamKind.COUNT, 60),
})  # fmt: skip
