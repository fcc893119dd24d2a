"""What can be tuned in the latency model. Times are model times; the wall sees them divided by `speed`."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Knobs"]


@dataclass(frozen=True)
class Knobs:
    """The numbers of the model, from `STANDIN_*`. See `docs/rehearsal.md`."""

    speed: float = 50.0  # model seconds per wall second
    load_s: float = 0.5  # wall seconds from start to ready: not scaled
    prefill_tok_s: float = 60_000.0  # input tokens a second, shared by all requests in prefill
    tpot_ms: float = 10.0  # per output token of a request that is alone
    batch_slope: float = 0.01  # each further running request adds this part of tpot_ms
    max_batch: int = 256  # requests that run at once; the rest queue, first come first served
    chunk_ms: float = 25.0  # wall time that one streamed chunk covers at least; 0: one token a chunk
    accept_rate: float = 0.7  # of speculative tokens
    wrong_pct: float = 10.0  # of the questions that the stand-in can answer
    join_timeout_s: float = 600.0  # wall seconds to wait for the other ranks
    peer_grace_s: float = 0.3  # wall seconds between a rank's death and the end of the others
