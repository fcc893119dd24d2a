"""What one idea is called by each engine: data for the refusal of another engine's flags, and known values.

A flag that is only listed here for other engines is a mistake for certain, and has a right name to propose.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

__all__ = ["CLIENT_CONCEPTS", "CLIENT_VALUES", "SERVER_CONCEPTS", "SERVER_VALUES", "Concept", "foreign"]

Values = Mapping[str, Mapping[str, tuple[str, ...]]]  # engine -> canonical flag -> what it takes


@frozen(eq=False, repr=False)
class Concept:
    """One idea: its spellings by engine, the one to propose first, and the setting that decides it here."""

    names: Mapping[str, tuple[str, ...]]
    setting: str = ""


def _concept(atom: str, vllm: str, sglang: str, setting: str = "") -> Concept:
    return Concept(
        {"atom": tuple(atom.split()), "vllm": tuple(vllm.split()), "sglang": tuple(sglang.split())}, setting
    )


SERVER_CONCEPTS = (
    _concept("--model", "--model", "--model-path --model", "model.id"),
    _concept("--server-port", "--port", "--port", "params.port_no"),
    _concept("--max-model-len", "--max-model-len", "--context-length", "params.max_model_length"),
    _concept(
        "--tensor-parallel-size -tp",
        "--tensor-parallel-size -tp",
        "--tp --tp-size --tensor-parallel-size",
        "params.tensor_parallelism",
    ),
    _concept(
        "--pipeline-parallel-size -pp",
        "--pipeline-parallel-size -pp",
        "--pp-size --pp --pipeline-parallel-size",
        "params.pipeline_parallel_size",
    ),
    _concept("--data-parallel-size -dp", "--data-parallel-size -dp", "--dp-size --dp --data-parallel-size"),
    _concept("", "--nnodes -n", "--nnodes", "params.nnodes"),
    _concept("", "--node-rank -r", "--node-rank", "params.nnodes"),
    _concept("", "--master-addr", "--dist-init-addr --nccl-init-addr", "params.master_addr"),
    _concept("", "--master-port", "--dist-init-addr", "params.master_port"),
    _concept("", "--distributed-executor-backend", ""),
    _concept("", "--headless", ""),
    _concept("", "--tokenizer-mode", "--tokenizer-mode", "params.tokenizer_mode"),
    _concept("", "--seed", "--random-seed"),
    _concept("--gpu-memory-utilization", "--gpu-memory-utilization", "--mem-fraction-static"),
    _concept("--no-enable-prefix-caching", "--no-enable-prefix-caching", "--disable-radix-cache"),
    _concept("--enforce-eager", "--enforce-eager", "--disable-cuda-graph"),
    _concept("--block-size", "--block-size", "--page-size"),
    _concept("--max-num-seqs", "--max-num-seqs", "--max-running-requests"),
    _concept("--max-num-batched-tokens", "--max-num-batched-tokens", "--chunked-prefill-size"),
    _concept("--cudagraph-capture-sizes", "--cudagraph-capture-sizes", "--cuda-graph-bs-decode"),
    _concept("--enable-expert-parallel", "--enable-expert-parallel -ep", "--ep-size --ep --expert-parallel-size"),
    _concept("--method", "--speculative-config -sc --spec-method", "--speculative-algorithm"),
    _concept("--num-speculative-tokens", "--speculative-config --spec-tokens", "--speculative-num-draft-tokens"),
    _concept("--draft-model", "--speculative-config --spec-model", "--speculative-draft-model-path"),
    _concept("", "--uvicorn-log-level", "--log-level"),
)

CLIENT_CONCEPTS = (
    _concept("--result-dir", "--result-dir", "--output-file"),
    _concept("--result-filename", "--result-filename", "--output-file", "params.result_filename"),
    _concept("--save-detailed", "--save-detailed", "--output-details"),
    _concept("--save-result", "--save-result", ""),
    _concept("--num-warmups", "--num-warmups", "--warmup-requests"),
    _concept("--use-chat-template", "", "--apply-chat-template"),
    _concept("", "--skip-chat-template", ""),
    _concept("--ignore-eos", "--ignore-eos", ""),
    _concept("", "--extra-body", "--extra-request-body"),
    _concept("--percentile-metrics", "--percentile-metrics", "", "params.percentile_metrics"),
    _concept("--metric-percentiles", "--metric-percentiles", "", "params.metric_percentiles"),
    _concept("--burstiness", "--burstiness", "", "params.burstiness"),
    _concept("--random-prefix-len", "--random-prefix-len", "", "params.random_prefix_len"),
    _concept("--tokenizer-mode", "--tokenizer-mode", "", "params.tokenizer_mode"),
)


def foreign(concepts: tuple[Concept, ...], engine: str, option: str) -> Concept | None:
    """The idea that other engines call `option`; None if `engine` does too, or no engine does."""
    spelled = option.replace("_", "-")
    for concept in concepts:
        if any(spelled in names for names in concept.names.values()):
            return None if spelled in concept.names[engine] else concept
    return None


def _values(**flags: str) -> Mapping[str, tuple[str, ...]]:
    return {name.replace("_", "-"): tuple(listed.split()) for name, listed in flags.items()}


_DTYPES = "auto half float16 bfloat16 float float32"

SERVER_VALUES: Values = {
    "atom": _values(
        kv_cache_dtype="bf16 fp8",
        index_cache_dtype="bf16 fp8 fp4",
        cudagraph_mode="NONE PIECEWISE FULL FULL_AND_PIECEWISE AF_PIECEWISE",
        load_dummy="empty zero xavier",
        enable_tbo="prefill all",
        all2all_backend="high-throughput low-latency",
        moe_backend="standard mega",
        method="mtp eagle3 dspark",
    ),
    "vllm": _values(
        kv_cache_dtype="auto bfloat16 fp8 fp8_e4m3 fp8_e5m2 fp8_inc fp8_ds_mla",
        distributed_executor_backend="mp ray uni external_launcher",
        dtype=_DTYPES,
    ),
    "sglang": _values(
        kv_cache_dtype="auto bf16 bfloat16 fp8_e4m3 fp8_e5m2 fp4_e2m1",
        load_balance_method="auto round_robin follow_bootstrap_room total_requests total_tokens",
        dtype=_DTYPES,
    ),
}

CLIENT_VALUES: Values = {
    "atom": {},
    "vllm": _values(ramp_up_strategy="linear exponential", lora_assignment="random round-robin"),
    "sglang": _values(
        lora_request_distribution="uniform distinct skewed",
        gsp_group_distribution="uniform zipf",
    ),
}
