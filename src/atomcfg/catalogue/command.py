"""Codes of the command line and of plan documents: A901 to A999."""

from __future__ import annotations

from .entry import Entry

__all__ = ["ENTRIES"]

ENTRIES = (
    Entry(
        "A901",
        "A file cannot be read",
        "It is not there, not readable, or larger than an input may be (256 MiB).",
        "atomcfg plan exmaples/config.json",
        "atomcfg plan examples/config.json",
    ),
)
