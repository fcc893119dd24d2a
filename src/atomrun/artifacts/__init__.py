"""Artifacts: what the clients write, one pure parser a format."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from atomrun.results import Reading

from . import atom, sglang, vllm
from .record import ArtifactError, Fault

__all__ = ["FORMATS", "ArtifactError", "Fault", "parse"]

FORMATS: Mapping[str, Callable[[str], Reading]] = {
    "atom": atom.parse,
    "vllm": vllm.parse,
    "sglang": sglang.parse,
}


def parse(format: str, text: str) -> Reading:  # noqa: A002 - the plan's own word for it
    """The reading of an artifact's text. Raises `ArtifactError`, and `KeyError` for a format that no plan names."""
    return FORMATS[format](text)
