"""GPU memory in use on a node, from the driver's own files: no tool, no GPU work."""

from __future__ import annotations

from .context import NodeRun
from .scripts import pairs, run_on_host

__all__ = ["settled"]

_PATIENCE_S = 60
_TOLERANCE = 2 << 30  # bytes over the level before the run that count as noise


def settled(node: NodeRun, before: int) -> int:
    """Wait on the node until the memory in use is back near `before` (bytes); what it still exceeds it by, or 0."""
    limit = before + _TOLERANCE
    done = run_on_host(node, "vram_settles", [str(limit), str(_PATIENCE_S)], _PATIENCE_S + 30.0)
    used = next((int(value) for key, value in pairs(done.out) if key == "vram"), before)
    return max(0, used - before) if used > limit else 0
