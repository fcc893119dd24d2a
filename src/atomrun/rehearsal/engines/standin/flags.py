"""Command lines as data: a table of flags becomes an argparse parser that fails as the real program's does."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

__all__ = ["Flag", "add_flags", "fold_underscores", "switches", "values"]

_TYPES: dict[str, Callable[[str], object]] = {"text": str, "int": int, "float": float, "json": json.loads}
_NARGS = {"maybe": "?", "many": "*", "some": "+"}


@dataclass(frozen=True)
class Flag:
    """One option. `names` are its spellings, separated by blanks.

    `kind`: text, int, float, json: one value; ints, texts: one or more; switch: none; negatable: none, with
    a `--no-` form; maybe: at most one value; many, some: any number of values, at least one.
    """

    names: str
    kind: str = "text"
    default: object = None
    choices: tuple[str, ...] = ()
    required: bool = False


def switches(names: str) -> tuple[Flag, ...]:
    """Flags without a value, one a blank-separated name."""
    return tuple(Flag(name, "switch") for name in names.split())


def values(kind: str, names: str) -> tuple[Flag, ...]:
    """Flags of one kind that have no default of interest."""
    return tuple(Flag(name, kind) for name in names.split())


def add_flags(parser: argparse._ActionsContainer, flags: Iterable[Flag], both_spellings: bool = False) -> None:
    """Add the flags. `both_spellings`: each long name also with `_` for `-` and the reverse."""
    for flag in flags:
        names = _spellings(flag.names.split()) if both_spellings else flag.names.split()
        _add(parser, flag, names)


def fold_underscores(argv: Sequence[str]) -> list[str]:
    """`--kv_cache_dtype=x` as `--kv-cache-dtype=x`: some programs take either in every long flag."""
    folded = []
    for token in argv:
        name, equals, value = token.partition("=")
        folded.append(name.replace("_", "-") + equals + value if token.startswith("--") else token)
    return folded


def _spellings(names: Iterable[str]) -> list[str]:
    found: list[str] = []
    for name in names:
        dashed = "--" + name[2:].replace("_", "-")
        snake = "--" + name[2:].replace("-", "_")
        found += [name] if not name.startswith("--") else [dashed, snake]
    return list(dict.fromkeys(found))


def _add(parser: argparse._ActionsContainer, flag: Flag, names: list[str]) -> None:
    if flag.kind == "switch":
        parser.add_argument(*names, action="store_true", default=flag.default is True)
    elif flag.kind == "negatable":
        parser.add_argument(*names, action=argparse.BooleanOptionalAction, default=flag.default)
    elif flag.kind in _NARGS:
        parser.add_argument(*names, nargs=_NARGS[flag.kind], default=flag.default, choices=flag.choices or None)
    else:
        kind, plural = flag.kind.removesuffix("s"), flag.kind.endswith("s")
        parser.add_argument(
            *names,
            type=_TYPES[kind],
            nargs="+" if plural else None,
            default=flag.default,
            choices=flag.choices or None,
            required=flag.required,
        )
