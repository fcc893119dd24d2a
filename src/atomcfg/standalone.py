"""Check one document by itself: a threshold or cluster file without its config."""

from __future__ import annotations

import json

from .diagnostics import Diagnostic, Diagnostics
from .documents import Source
from .passes.check import check
from .passes.read import read
from .secrecy import find_secrets, masked, report_secrets
from .sources import Options, Sources

__all__ = ["check_alone", "role_of"]


def role_of(name: str, data: bytes) -> str:
    """What a JSON file is, by name and shape: config, threshold, cluster, or plan."""
    if name.endswith("threshold.json"):
        return "threshold"
    try:
        top = json.loads(data)
    except (ValueError, RecursionError):
        return "config"
    if isinstance(top, dict):
        if "node_dict" in top:
            return "cluster"
        if "plan_version" in top:
            return "plan"
    return "config"


def check_alone(source: Source) -> tuple[Diagnostic, ...]:
    """Text and shape of a document, against the schema of its role, and no secret in it."""
    parsed = read(Sources(source), Options())
    if parsed.value is None:
        return parsed.diagnostics
    document, found = parsed.value.config, Diagnostics()
    found.extend(parsed.diagnostics)
    found.extend(check(document, source.role))
    report_secrets(document, found)
    secrets = [secret for _, secret in find_secrets(document)]
    return tuple(masked(item, secrets) for item in found.items)
