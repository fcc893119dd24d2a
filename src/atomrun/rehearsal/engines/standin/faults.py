"""What can be made to go wrong, from `STANDIN_FAULT_*`. `docs/rehearsal.md` has the table."""

from __future__ import annotations

from dataclasses import dataclass, replace

__all__ = ["Faults", "for_rank"]


@dataclass(frozen=True)
class Faults:
    """Nothing, unless asked for. Times are wall seconds; counts of 0 and empty texts mean never."""

    # server
    rank: int = -1  # limit the server's faults to this rank
    die_loading: str = ""  # oom | weights | gpu_fault
    hang_loading: bool = False
    die_after_s: float = 0.0  # after ready
    die_code: int = 1
    hang_completions: bool = False
    wrong_model: str = ""
    no_usage: bool = False
    fail_every: int = 0
    slow_every: int = 0
    slow_s: float = 1.0
    noise: bool = False
    port_taken: bool = False
    talkative: bool = False
    escape: bool = False
    ignore_term: bool = False
    # client
    client_exit: int = 0  # after the artifact is written
    client_dies: int = 0  # before any artifact
    no_artifact: bool = False
    stale_artifact: bool = False
    truncate: bool = False
    nan: str = ""  # the artifact's key


def for_rank(faults: Faults, rank: int) -> Faults:
    """The faults that apply to a server of this rank."""
    if faults.rank in {-1, rank}:
        return faults
    return replace(Faults(), rank=faults.rank)
