"""How much of the prompts the server took from its prefix cache, by its own counters."""

# ruff: noqa: UP006, UP035, UP045 - must run on Python 3.6
from typing import Dict, Optional

from .quality import parse_metrics
from .web import Server

__all__ = ["cached"]

PATIENCE_S = 5.0

# Prompt tokens looked up, and those found, without the engine's prefix; the first pair that is there counts.
PAIRS = (
    ("prefix_cache_queries_total", "prefix_cache_hits_total"),
    ("gpu_prefix_cache_queries_total", "gpu_prefix_cache_hits_total"),
    ("prefix_cache_full_tokens_total", "prefix_cache_cached_tokens_total"),
    ("prompt_tokens_total", "cached_tokens_total"),
)


def cached(server: Server) -> Dict[str, Optional[float]]:
    """{"queries", "hits"}: tokens since the server started; both None where the server does not tell."""
    reply = server.get("/metrics", PATIENCE_S)
    found = parse_metrics(reply.body.decode("utf-8", "replace")) if reply.status == 200 else {}
    for queries, hits in PAIRS:
        if queries in found and hits in found:
            return {"queries": found[queries], "hits": found[hits]}
    return {"queries": None, "hits": None}
