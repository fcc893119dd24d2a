"""ATOM's /metrics and /debug/mtp_stats."""

from __future__ import annotations

from standin.batch import Batch
from standin.dialect import Json
from standin.prometheus import family
from standin.speculation import drafts

__all__ = ["exposition", "mtp_stats"]

_BLOCKS = 31460  # KV cache blocks; the stand-in gives 64 to each running request
_BLOCKS_PER_REQUEST = 64
# In the order of the real exporter. A stand-in has neither a prefix cache nor LMCache: those stay 0.
_NAMES = """metrics_snapshot_available metrics_refresh_errors_total metrics_last_refresh_timestamp_seconds
requests_running requests_waiting requests_parked_kv_load requests_partial_prefill kv_cache_blocks_used
kv_cache_blocks_free kv_cache_blocks_total kv_cache_blocks_indexed kv_cache_usage_ratio requests_finished_total
prompt_tokens_total generation_tokens_total preemptions_total prefix_cache_requests_total
prefix_cache_cached_tokens_total prefix_cache_compressed_tokens_total prefix_cache_full_tokens_total
prefix_cache_wanted_tokens_total prefix_cache_checkpoints_kept_total prefix_cache_checkpoints_dropped_total
prefix_cache_checkpoints_evicted_total prefix_cache_checkpoints_orphaned_total prefix_cache_hit_ratio
prefix_cache_compressed_hit_ratio prefix_cache_lost_to_checkpoint_ratio prefix_cache_lost_unrecoverable_ratio
lmcache_load_requests_total lmcache_loaded_tokens_total lmcache_load_failures_total lmcache_save_requests_total
lmcache_saved_tokens_total lmcache_loads_pending lmcache_saves_pending mtp_draft_tokens_total
mtp_accepted_tokens_total mtp_acceptance_rate mtp_average_tokens_per_forward"""


def exposition(batch: Batch, now: float) -> str:
    """The text of /metrics; `now` is the time of the snapshot, epoch seconds."""
    known, lines = _values(batch, now), []
    for name in _NAMES.split():
        kind = "counter" if name.endswith("_total") and name != "kv_cache_blocks_total" else "gauge"
        lines += family(f"atom:{name}", kind, [({}, known.get(name, 0.0))])
    steps = enumerate(drafts(batch).accepted_by_step)
    lines += family(
        "atom:mtp_decode_steps_total", "counter", [({"accepted_tokens": str(n)}, float(many)) for n, many in steps]
    )
    return "\n".join(lines) + "\n"


def mtp_stats(batch: Batch) -> Json:
    """The body of /debug/mtp_stats."""
    if not batch.speculative:
        return {"enabled": False}
    found = drafts(batch)
    return {
        "enabled": True,
        "total_draft_tokens": found.drafted,
        "total_accepted_tokens": found.accepted,
        "acceptance_rate": found.acceptance_rate,
        "average_tokens_per_forward": found.tokens_per_step,
        "distribution": {str(n): many for n, many in enumerate(found.accepted_by_step)},
    }


def _values(batch: Batch, now: float) -> dict[str, float]:
    used = min(_BLOCKS, batch.running * _BLOCKS_PER_REQUEST)
    counters, found = batch.counters, drafts(batch)
    return {
        "metrics_snapshot_available": 1.0,
        "metrics_last_refresh_timestamp_seconds": now,
        "requests_running": batch.running,
        "requests_waiting": batch.waiting,
        "kv_cache_blocks_used": used,
        "kv_cache_blocks_free": _BLOCKS - used,
        "kv_cache_blocks_total": _BLOCKS,
        "kv_cache_usage_ratio": used / _BLOCKS,
        "requests_finished_total": counters.finished,
        "prompt_tokens_total": counters.prompt_tokens,
        "generation_tokens_total": counters.generation_tokens,
        "prefix_cache_requests_total": counters.finished,
        "prefix_cache_full_tokens_total": counters.prompt_tokens,
        "mtp_draft_tokens_total": found.drafted,
        "mtp_accepted_tokens_total": found.accepted,
        "mtp_acceptance_rate": found.acceptance_rate,
        "mtp_average_tokens_per_forward": found.tokens_per_step,
    }
