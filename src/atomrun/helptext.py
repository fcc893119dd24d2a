"""What a program's `--help` says of its options, and which options of a command it does not know. Pure.

Reads what Python's argparse writes, which all engines use: an option is a word that begins with a hyphen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

__all__ = ["options_in", "options_of", "program_of", "stranger_to"]

_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
_ALIKE = 0.6  # difflib's own measure of what is close


def program_of(argv: Sequence[str]) -> tuple[str, ...]:
    """The words before the first option; `-m MODULE` belongs to the program."""
    end = 0
    while end < len(argv) and (not argv[end].startswith("-") or argv[end] == "-m"):
        end += 2 if argv[end] == "-m" else 1
    return tuple(argv[:end])


def options_of(argv: Sequence[str]) -> tuple[str, ...]:
    """The options of a command, as it spells them, without values: `--x` for `--x=1`."""
    rest = argv[len(program_of(argv)) :]
    return tuple(dict.fromkeys(word.partition("=")[0] for word in rest if _OPTION.match(word)))


def options_in(text: str) -> frozenset[str]:
    """The options that a help text names, with hyphens for underscores."""
    return frozenset(found.replace("_", "-") for found in _OPTION.findall(text))


def stranger_to(known: Iterable[str], option: str) -> str | None:
    """None if a program that has the `known` options takes `option`, else the nearest of them, "" for none near.

    As argparse does, the beginning of a long option stands for it, a short one may have its value in the same
    word. As vLLM does, `--config.key` sets a part of `--config`, and `_` stands for `-`.
    """
    names = sorted(known)
    plain = option.partition(".")[0].replace("_", "-")
    if plain in names:
        return None
    if plain.startswith("--"):
        if any(name.startswith(plain) for name in names):
            return None
    elif plain[:2] in names:
        return None
    return next(iter(get_close_matches(plain, names, 1, _ALIKE)), "")
