"""What tells a node from others, and from itself after a change."""

from __future__ import annotations

from .context import NodeRun, RunContext

__all__ = ["known_of"]


def known_of(run: RunContext, node: NodeRun) -> dict[str, str]:
    """What the journal keeps of a node. `machine` and `image` decide whether earlier measurements still count."""
    return {
        "name": node.name,
        "machine": node.machine,
        "image": run.record.facts.get(f"image {node.name}", ""),
        "boot_id": run.record.facts.get(f"boot_id {node.name}", ""),
        "vram_used": "" if node.vram_used is None else str(node.vram_used),
    }
