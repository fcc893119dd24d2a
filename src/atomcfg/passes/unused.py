"""What of the configuration reaches nothing: the findings of `lower`, for those who want no plan."""

from __future__ import annotations

from atomcfg.diagnostics import Checked
from atomcfg.lowering.running import run_of

from .states import Bound

__all__ = ["unused"]


def unused(bound: Bound) -> Checked[Bound]:
    """`bound` as it is, with a warning for every value that no command uses."""
    return Checked.of(bound, run_of(bound).found)
