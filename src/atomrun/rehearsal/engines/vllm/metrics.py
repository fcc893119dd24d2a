"""vLLM's /metrics, as far as a benchmark looks at them."""

from __future__ import annotations

from standin.batch import Batch
from standin.prometheus import family, histogram
from standin.speculation import drafts

__all__ = ["exposition"]

_TTFT = (
    0.001,
    0.005,
    0.01,
    0.02,
    0.04,
    0.06,
    0.08,
    0.1,
    0.25,
    0.5,
    0.75,
    1.0,
    2.5,
    5.0,
    7.5,
    10.0,
    20.0,
    40.0,
    80.0,
)
_E2E = (0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 120.0, 240.0, 480.0)
_KV_SHARE = 1.0 / 512.0  # of the cache, for each running request


def exposition(batch: Batch, model: str) -> str:
    """The text of /metrics."""
    labels = {"model_name": model, "engine": "0"}
    counters, lines = batch.counters, []
    for name, kind, value in _scalars(batch):
        lines += family(f"vllm:{name}", kind, [(labels, value)])
    outcomes = {"stop": 0, "length": counters.finished, "abort": counters.aborted, "error": 0}
    reasons = [({**labels, "finished_reason": reason}, float(many)) for reason, many in outcomes.items()]
    lines += family("vllm:request_success_total", "counter", reasons)
    lines += histogram("vllm:time_to_first_token_seconds", _TTFT, labels, counters.ttft)
    lines += histogram("vllm:e2e_request_latency_seconds", _E2E, labels, counters.latency)
    if batch.speculative:
        lines += _speculation(batch, labels)
    return "\n".join(lines) + "\n"


def _scalars(batch: Batch) -> list[tuple[str, str, float]]:
    counters = batch.counters
    return [
        ("num_requests_running", "gauge", batch.running),
        ("num_requests_waiting", "gauge", batch.waiting),
        ("kv_cache_usage_perc", "gauge", min(1.0, batch.running * _KV_SHARE)),
        ("prefix_cache_queries_total", "counter", counters.prompt_tokens),
        ("prefix_cache_hits_total", "counter", 0.0),
        ("num_preemptions_total", "counter", 0.0),
        ("prompt_tokens_total", "counter", counters.prompt_tokens),
        ("generation_tokens_total", "counter", counters.generation_tokens),
    ]


def _speculation(batch: Batch, labels: dict[str, str]) -> list[str]:
    found, lines = drafts(batch), []
    totals = {"drafts": found.steps, "draft_tokens": found.drafted, "accepted_tokens": found.accepted}
    for name, value in totals.items():
        lines += family(f"vllm:spec_decode_num_{name}_total", "counter", [(labels, float(value))])
    positions = [
        ({**labels, "position": str(place)}, float(sum(found.accepted_by_step[place + 1 :])))
        for place in range(batch.speculative)
    ]
    return lines + family("vllm:spec_decode_num_accepted_tokens_per_pos_total", "counter", positions)
