"""How warm a cell found the server's prefix cache. Each has its own seed, so there should be nothing in it."""

from __future__ import annotations

from .asking import look_around, server_order
from .context import RunContext
from .host import HostError

__all__ = ["note_hits", "read_cache"]

_MUCH = 0.05  # of the prompt tokens


def read_cache(run: RunContext) -> None:
    """Have the head's server say how many prompt tokens it looked up and found (`SessionRun.cached`); None if it
    does not tell, or cannot be asked: no cell fails for that."""
    session = run.the_session
    session.cache_asked, session.cached = True, None
    if session.dead:
        return
    try:
        answer = look_around(run.head, "cache", server_order(run))
    except HostError:
        return
    if answer["queries"] is not None:
        session.cached = (answer["queries"], answer["hits"])


def note_hits(run: RunContext, cell: str) -> None:
    """Keep the share of the cell's prompt tokens that came from the cache since it was read last; warn of one that
    flatters its figures."""
    before = run.the_session.cached
    if before is None:
        return
    read_cache(run)
    after = run.the_session.cached
    if after is None or after[0] <= before[0]:
        return
    tokens, hits = after[0] - before[0], after[1] - before[1]
    run.record.facts[f"prefix cache hits {cell}"] = f"{hits / tokens:.1%} of {tokens:,.0f} prompt tokens"
    if hits > _MUCH * tokens:
        share = f"{hits / tokens:.0%} of its prompt tokens came from the prefix cache"
        run.warn(f"{cell}: {share}, which flatters its figures")
