"""Every document against its schema, the dialect's own for the config."""

from __future__ import annotations

from atomcfg.diagnostics import Checked, Diagnostics
from atomcfg.dialect import dialect_of

from .check import check
from .states import Parsed

__all__ = ["validate"]


def validate(parsed: Parsed) -> Checked[Parsed]:
    """Shape of config and cluster file. The threshold file is checked when it is chosen."""
    found = Diagnostics()
    found.extend(check(parsed.config, f"config-{dialect_of(parsed.config.value)}"))
    if parsed.cluster is not None:
        found.extend(check(parsed.cluster, "cluster"))
    return Checked.of(parsed, found)
