"""Every document against its schema, the dialect's own for the config."""

from __future__ import annotations

from atomcfg.diagnostics import Checked, Diagnostics
from atomcfg.dialect import dialect_of
from atomcfg.secrecy import report_secrets

from .check import check
from .states import Parsed

__all__ = ["validate"]


def validate(parsed: Parsed) -> Checked[Parsed]:
    """Shape of config and cluster file, and no secret in them. The threshold file is checked when it is chosen."""
    found = Diagnostics()
    found.extend(check(parsed.config, f"config-{dialect_of(parsed.config.value)}"))
    report_secrets(parsed.config, found)
    if parsed.cluster is not None:
        found.extend(check(parsed.cluster, "cluster"))
        report_secrets(parsed.cluster, found)
    return Checked.of(parsed, found)
