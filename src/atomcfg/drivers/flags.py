"""Command-line flags in any spelling: read, named canonically, placed among a driver's own.

An option can be written in many ways that the engine takes for one: `-tp 8`, `--tensor_parallel_size=8`,
`--tensor-par 8`, a key of an object. Everything here compares canonical names, and keeps the user's words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from attrs import field, frozen

from atomcfg.documents import JsonPath
from atomcfg.value import Value

__all__ = ["FlagName", "FlagTable", "Given", "count_of", "flag_table", "read_object", "read_words", "same_value"]

_COUNT = r"[1-9][0-9]{0,5}"
_OPTION = re.compile(r"--?[A-Za-z][A-Za-z0-9_.-]*")


@frozen(eq=False, repr=False)
class FlagName(Value):
    """A flag's canonical name without dashes; `negated` for the `--no-` form of a switch."""

    name: str
    negated: bool = False
    listed: bool = True  # False: the table does not know it


@frozen(eq=False, repr=False)
class FlagTable:
    """The options of one program. `spellings` maps each of them, with its dashes, to the canonical name."""

    spellings: Mapping[str, str]
    switches: frozenset[str] | None = None  # those with a `--no-` form; None: not known, any may have one
    _forms: Mapping[str, FlagName] = field(init=False, repr=False)

    @_forms.default
    def _every_form(self) -> Mapping[str, FlagName]:
        forms = {spelling: FlagName(name) for spelling, name in self.spellings.items()}
        for spelling, name in self.spellings.items():
            if spelling.startswith("--") and (self.switches is None or name in self.switches):
                forms.setdefault(f"--no-{spelling[2:]}", FlagName(name, negated=True))
        return forms

    def resolve(self, option: str) -> FlagName:
        """What `option` (`--kv_cache_dtype`, `-tp`, `--max-model`) stands for, as the program's parser sees it.

        `_` and `-` are the same, an unambiguous prefix counts, and `--flag.key` is a part of `--flag`.
        """
        whole = option.replace("_", "-")
        stem, dot, part = whole.partition(".")
        found = self._forms.get(stem) or self._abbreviated(stem)
        if found is not None:
            return FlagName(found.name + dot + part, found.negated)
        negated = whole.startswith("--no-")
        return FlagName(whole.lstrip("-").removeprefix("no-" if negated else ""), negated, listed=False)

    def exact(self, option: str) -> bool:
        """Does the program list this very spelling (`_` and `-` being the same)?"""
        return option.replace("_", "-").partition(".")[0] in self._forms

    def _abbreviated(self, stem: str) -> FlagName | None:
        meant = {found for spelling, found in self._forms.items() if spelling.startswith(stem)}
        return meant.pop() if len(meant) == 1 else None


@frozen(eq=False, repr=False)
class Given(Value):
    """One option as the user gave it. `words` is its argv, empty for an object's `false` or `null`;
    `values` what follows the flag; `flag` None marks words that belong to no option."""

    flag: FlagName | None
    option: str
    values: tuple[str, ...]
    words: tuple[str, ...]
    path: JsonPath

    @property
    def value(self) -> str:
        return " ".join(self.values)


def flag_table(text: str, switches: str | None = "") -> FlagTable:
    """A table from words such as `tensor-parallel-size/-tp`: the canonical name, then its other spellings.

    Spellings are long (`--`) unless they show one dash. `switches` lists the flags with a `--no-` form.
    """
    spellings: dict[str, str] = {}
    for word in text.split():
        name, *aliases = word.split("/")
        for alias in (name, *aliases):
            spellings[alias if alias.startswith("-") else f"--{alias}"] = name
    return FlagTable(spellings, None if switches is None else frozenset(switches.split()))


def read_words(words: object, path: JsonPath, table: FlagTable, indexed: bool = True) -> tuple[Given, ...]:
    """The options of an argument list at `path`. Without `indexed` its words have no places of their own."""
    if not isinstance(words, list | tuple):
        return ()
    found: list[Given] = []
    for index, word in enumerate(_text(word) for word in words):
        option, equals, value = word.partition("=")
        place = (*path, index) if indexed else path
        if _OPTION.fullmatch(option):
            found.append(Given(table.resolve(option), option, (value,) if equals else (), (word,), place))
        elif found:
            last = found[-1]
            found[-1] = Given(last.flag, last.option, (*last.values, word), (*last.words, word), last.path)
        else:
            found.append(Given(None, "", (word,), (word,), place))
    return tuple(found)


def read_object(arguments: object, path: JsonPath, table: FlagTable) -> tuple[Given, ...]:
    """The options of an object at `path`: true is a bare flag, false and null omit it, a list repeats it,
    an object becomes compact JSON in one word."""
    if not isinstance(arguments, dict):
        return ()
    found: list[Given] = []
    for key, value in arguments.items():
        option = key if key.startswith("-") else f"--{key}"
        words: tuple[str, ...]
        values: tuple[str, ...]
        if value is None or value is False:
            words, values = (), ()
        elif value is True:
            words, values = (option,), ()
        else:
            values = tuple(_text(item) for item in value) if isinstance(value, list) else (_text(value),)
            words = tuple(word for item in values for word in (option, item))
        found.append(Given(table.resolve(option), option, values, words, (*path, key)))
    return tuple(found)


def count_of(given: Sequence[Given], name: str) -> int | None:
    """The whole number that a flag was given, the last one counting; None if it was not, or is none."""
    values = [entry.value for entry in given if entry.flag and entry.flag.name == name and entry.words]
    return int(values[-1]) if values and re.fullmatch(_COUNT, values[-1]) else None


def same_value(left: str, right: str) -> bool:
    """Equal as a parser would read them: as text, as numbers, or as comma lists in any order."""
    return left == right or sorted(map(_number, left.split(","))) == sorted(map(_number, right.split(",")))


def _number(text: str) -> str:
    try:
        return repr(float(text))
    except ValueError:
        return text


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    # Sorted: the order of an object's keys means nothing, so it must not reach a command.
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, sort_keys=True)
