"""Cell keys: `ISL=1024,OSL=1024,TP=8,PP=1,CONC=128`. Parsed, never compared as text."""

from __future__ import annotations

import re

from attrs import frozen

from .value import Value

__all__ = ["CellKey", "KeyFault", "ParsedKey", "looks_like_key", "parse_key"]

_DIMENSIONS = ("ISL", "OSL", "TP", "PP", "CONC")
_DROPPED = ("NNODES", "DP")  # older forms carried them; they do not name a cell
_PART = r"\s*([A-Za-z_]+)\s*=\s*([^,\s]*)\s*"
_CANONICAL = re.compile(",".join(rf"{name}=([1-9][0-9]{{0,17}})" for name in _DIMENSIONS))
_LOOKS = r"\s*[A-Za-z_]+\s*=\s*[^,=]*(,\s*[A-Za-z_]+\s*=\s*[^,=]*)*,?\s*"


@frozen(order=True)
class CellKey:
    """The shape of one benchmark cell."""

    isl: int
    osl: int
    tp: int
    pp: int
    conc: int

    def __str__(self) -> str:
        return f"ISL={self.isl},OSL={self.osl},TP={self.tp},PP={self.pp},CONC={self.conc}"


@frozen(eq=False, repr=False)
class ParsedKey(Value):
    """A key and how it was written. `legacy` names what an older form lacks or carries beside it."""

    key: CellKey
    canonical: bool
    legacy: tuple[str, ...]


@frozen(eq=False, repr=False)
class KeyFault(Value):
    """Why a text is no cell key."""

    message: str
    dimension: str = ""  # the unknown dimension, if that is the fault


def looks_like_key(text: str) -> bool:
    """Whether a text is meant as a cell key (`NAME=value` parts), right or wrong."""
    return (_CANONICAL.fullmatch(text) or re.fullmatch(_LOOKS, text)) is not None


def parse_key(text: str) -> ParsedKey | KeyFault:
    """Parse a key in any order, case and spacing. A key without PP means PP=1; NNODES and DP are dropped."""
    canonical = _CANONICAL.fullmatch(text)
    if canonical is not None:
        return ParsedKey(CellKey(*map(int, canonical.groups())), True, ())
    found: dict[str, int] = {}
    for part in text.split(","):
        match = re.fullmatch(_PART, part)
        if match is None:
            return KeyFault(f'"{part.strip()}" is not NAME=NUMBER')
        name, number = match.group(1).upper(), match.group(2)
        if name not in _DIMENSIONS + _DROPPED:
            return KeyFault(f"unknown dimension {match.group(1)}", match.group(1))
        if name in found:
            return KeyFault(f"dimension {name} is given twice")
        if not re.fullmatch(r"[1-9][0-9]{0,17}", number):
            return KeyFault(f"{name} needs a whole number of at least 1, not {number or 'nothing'}")
        found[name] = int(number)
    legacy = tuple(["PP"] if "PP" not in found else []) + tuple(name for name in _DROPPED if name in found)
    found.setdefault("PP", 1)
    missing = [name for name in _DIMENSIONS if name not in found]
    if missing:
        return KeyFault(f"{', '.join(missing)} missing")
    key = CellKey(*(found[name] for name in _DIMENSIONS))
    return ParsedKey(key, str(key) == text, legacy)
