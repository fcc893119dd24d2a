"""Every diagnostic code: what it means, why it matters, a bad and a good example."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from . import cells, command, dialects, drivers, migration, shape, text, thresholds, topology, values
from .entry import Entry

__all__ = ["CATALOGUE", "Entry", "explain"]

_MODULES = (text, shape, dialects, values, drivers, topology, cells, thresholds, command, migration)

CATALOGUE: Mapping[str, Entry] = MappingProxyType(
    {entry.code: entry for module in _MODULES for entry in module.ENTRIES}
)


def explain(code: str) -> str:
    """The entry of a code as text. A code that is not in `CATALOGUE` is a `KeyError`."""
    entry = CATALOGUE[code]
    return (
        f"{entry.code}: {entry.title}\n\n{_wrapped(entry.why)}\n\n"
        f"Bad:\n\n{_indented(entry.bad)}\n\nGood:\n\n{_indented(entry.good)}\n"
    )


def _wrapped(text: str) -> str:
    import textwrap  # here, because only `atomcfg explain` needs it

    return textwrap.fill(text, 100)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.split("\n"))
