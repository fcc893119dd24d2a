"""What every configuration must state, once its profile is laid over the top level."""

from __future__ import annotations

from atomcfg.diagnostics import Checked, Diagnostics

from .check import check
from .states import Flat

__all__ = ["complete"]


def complete(flat: Flat) -> Checked[Flat]:
    """Nothing that a run needs is missing from the flat document."""
    found = Diagnostics()
    found.extend(check(flat.document, "config-complete"))
    return Checked.of(flat, found)
