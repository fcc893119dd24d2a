"""Command lines as data: a table of flags becomes an argparse parser that fails as the real program's does."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Flag", "add_flags", "choices", "fold_underscores", "values"]

_NARGS = {"maybe": "?", "many": "*", "some": "+", "ints": "+", "floats": "+", "texts": "+"}
_UNITS = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


@dataclass(frozen=True)
class Flag:
    """One option. `names` are its spellings, separated by blanks.

    `kind`: text, int, float, json, size (an int, or 1k, 2M): one value; ints, floats, texts, some: one or more;
    many: any number; maybe: at most one; append: one, may be repeated; switch: none; negatable: none, with a
    `--no-` form; paired: as negatable, and `--disable-x` undoes `--enable-x`.
    """

    names: str
    kind: str = "text"
    default: object = None
    choices: tuple[str, ...] = ()
    required: bool = False


def values(kind: str, names: str) -> tuple[Flag, ...]:
    """Flags of one kind without a default. `names` is separated by blanks; `|` joins the spellings of one."""
    return tuple(Flag(name.replace("|", " "), kind) for name in names.split())


def choices(table: str) -> tuple[Flag, ...]:
    """Flags that take one of some words: `--name=a,b,c`, separated by blanks."""
    pairs = (entry.split("=") for entry in table.split())
    return tuple(Flag(name.replace("|", " "), "text", None, tuple(words.split(","))) for name, words in pairs)


def add_flags(parser: argparse._ActionsContainer, flags: Iterable[Flag], both_spellings: bool = False) -> None:
    """Add the flags. `both_spellings`: each long name also with `_` for `-` and the reverse."""
    for flag in flags:
        names = _spellings(flag.names.split()) if both_spellings else flag.names.split()
        parser.add_argument(*names, **_settings(flag))


def fold_underscores(argv: Sequence[str]) -> list[str]:
    """`--kv_cache_dtype=x` as `--kv-cache-dtype=x`: some programs take either in every long flag. What follows a
    dot or an equals sign stays."""
    return [re.sub(r"^--[^.=]*", lambda name: name.group().replace("_", "-"), token) for token in argv]


class _Paired(argparse.BooleanOptionalAction):
    """`--enable-x` with `--no-enable-x` and `--disable-x`; the same the other way round."""

    def __init__(self, option_strings: Sequence[str], dest: str, **settings: Any) -> None:
        super().__init__(option_strings, dest, **settings)
        swapped = [_swapped(name) for name in option_strings]
        self._undoing = {name for name in (*self.option_strings, *swapped) if name not in option_strings}
        self.option_strings = [*self.option_strings, *(name for name in swapped if name not in self.option_strings)]

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002 - argparse's signature
        namespace: argparse.Namespace,
        values: object,  # noqa: ARG002 - the same
        option_string: str | None = None,
    ) -> None:
        setattr(namespace, self.dest, option_string not in self._undoing)


def _swapped(name: str) -> str:
    if name.startswith("--enable-"):
        return name.replace("--enable-", "--disable-", 1)
    return name.replace("--disable-", "--enable-", 1)


def _size(text: str) -> int:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([kKmMgGtT])", text.strip())
    return int(float(found.group(1)) * _UNITS[found.group(2)]) if found else int(text)


_TYPES: dict[str, Callable[[str], object]] = {
    "int": int,
    "ints": int,
    "float": float,
    "floats": float,
    "json": json.loads,
    "size": _size,
}


def _spellings(names: Iterable[str]) -> list[str]:
    found: list[str] = []
    for name in names:
        dashed, snake = "--" + name[2:].replace("_", "-"), "--" + name[2:].replace("-", "_")
        found += [dashed, snake] if name.startswith("--") else [name]
    return list(dict.fromkeys(found))


def _settings(flag: Flag) -> dict[str, Any]:
    if flag.kind == "switch":
        return {"action": "store_true"}
    if flag.kind in {"negatable", "paired"}:
        action = _Paired if flag.kind == "paired" else argparse.BooleanOptionalAction
        return {"action": action, "default": flag.default}
    settings: dict[str, Any] = {"default": flag.default, "required": flag.required}
    if flag.kind == "append":
        settings["action"] = "append"
    if flag.kind in _TYPES:
        settings["type"] = _TYPES[flag.kind]
    if flag.kind in _NARGS:
        settings["nargs"] = _NARGS[flag.kind]
    if flag.choices:
        settings["choices"] = flag.choices
    return settings
