"""Values for the holes of a plan: what only this run knows, per rank and attempt."""

from __future__ import annotations

from collections.abc import Mapping

from atomcfg.plan import Paths
from atomcfg.tokens import Hole

__all__ = ["FabricFacts", "rank_values", "run_values"]

FabricFacts = Mapping[str, str]  # Hole.FABRIC_HCA and Hole.FABRIC_NETDEV of one node


def run_values(run_id: str, owner: str, digest: str, paths: Paths, mapped: Mapping[str, str]) -> dict[str, str]:
    """Values that are the same on every rank. `mapped` are those that a rehearsal sets; they win."""
    return {
        Hole.RUN_ID.value: run_id,
        Hole.OWNER.value: owner,
        Hole.PLAN_DIGEST.value: digest,
        Hole.ATTEMPT.value: "1",
        Hole.RUN_DIR.value: f"{paths.run_root_inside}/{run_id}",
        **mapped,
    }


def rank_values(
    base: Mapping[str, str], rank: int, fabric: FabricFacts, mapped: Mapping[str, str]
) -> dict[str, str]:
    """`base` for one rank: its number, its fabric, and what a rehearsal maps for it alone."""
    return {**base, Hole.RANK.value: str(rank), **fabric, **mapped}
