"""Find the line and column of a path in a JSON or TOML text, on demand."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

__all__ = ["KeyFinder", "Place", "duplicates", "line_column", "locate"]

Member = tuple[tuple[int, int] | None, int, int]  # key span, value begin, value end

_SPACE = re.compile(r"[ \t\r\n]*")
_ENCODER = json.JSONEncoder(ensure_ascii=False)
_DECODER = json.JSONDecoder(strict=False)
_TOKEN = r'(?s)"(?:[^"\\]|\\.)*"|[\[\]{},]'


class Place(NamedTuple):
    """Where a value stands. Lines and columns count from 1; `shown` is the line itself."""

    line: int
    column: int
    end_column: int
    shown: str


def line_column(text: str, offset: int) -> tuple[int, int]:
    """1-based line and column of a character offset."""
    return _line_counter(text).line(offset), offset - text.rfind("\n", 0, offset)


class _LineCounter:
    """Counts from the last place that was asked for: faults mostly come in the order of the text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._known = (0, 1)

    def line(self, offset: int) -> int:
        known, line = self._known
        line += self._text.count("\n", known, offset) - self._text.count("\n", offset, known)
        self._known = (offset, line)
        return line


@lru_cache(maxsize=8)
def _line_counter(text: str) -> _LineCounter:
    return _LineCounter(text)


def locate(text: str, path: tuple[str | int, ...], key: bool = False) -> Place:
    """The place of the value at `path` in a JSON text, or of its key with `key`.

    Of duplicate keys the last counts, as for the parser. A path that is not there gives its nearest parent.
    A text that is not JSON is taken for TOML, where the last key of the path is searched.
    """
    begin = _space(text, 0)
    end = _document_end(text, begin)
    if end < 0:
        return _locate_word(text, path)
    key_span: tuple[int, int] | None = None
    for step in path:
        found = _members(text, begin).get(step) if text[begin] in "{[" else None
        if found is None:
            break
        key_span, begin, end = found
    if key and key_span is not None and path and isinstance(path[-1], str):
        begin, end = key_span
    return _place(text, begin, end)


def _place(text: str, begin: int, end: int) -> Place:
    """A part of the text, cut at the end of its line."""
    line, column = line_column(text, begin)
    newline = text.find("\n", begin)
    last = len(text) if newline < 0 else newline
    shown = text[begin - column + 1 : last].rstrip("\r")
    return Place(line, column, column + min(end, last) - begin, shown)


class KeyFinder:
    """Lines of many keys, asked for in the order of the text: one walk, by text search.

    A threshold file may hold a quarter of a million specs; `locate` for each would be quadratic.
    """

    def __init__(self, text: str, start: int = 0) -> None:
        self._text = text
        self.offset = start  # behind the key that was found last
        self._counter = _LineCounter(text)

    def line(self, key: str) -> int:
        """The line of the next occurrence of `key` as a key; 0 if it is not written that way."""
        return self.lines((key,))[0]

    def lines(self, keys: tuple[str, ...]) -> list[int]:
        """`line` of each key, in the order of the text."""
        found = []
        for quoted in _quoted(keys):
            after = self._after(quoted)
            found.append(self._counter.line(after) if after else 0)
            self.offset = after or self.offset
        return found

    def peek(self, key: str) -> int:
        """The offset behind the next occurrence of `key`; 0 if there is none."""
        return self._after(_quoted((key,))[0])

    def skip(self, offset: int) -> None:
        """Go on behind a key that `peek` found."""
        self.offset = offset

    def _after(self, quoted: str) -> int:
        text, at = self._text, self.offset
        while (at := text.find(quoted, at)) >= 0:
            at += len(quoted)
            if text[at : at + 1] == ":" or text[(end := _space(text, at)) : end + 1] == ":":
                return at
        return 0


@lru_cache(maxsize=64)
def _quoted(keys: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(_ENCODER.encode, keys))


def duplicates(text: str) -> Iterator[tuple[tuple[str | int, ...], int, int]]:
    """Path, first and second offset of every repeated key of a valid JSON text, in order of appearance."""
    stack: list[tuple[tuple[str | int, ...], dict[str, int] | None, int]] = []
    path: tuple[str | int, ...] = ()
    expect_key = False
    for match in re.finditer(_TOKEN, text):
        token = match.group()
        if token in "{[":
            stack.append((path, {} if token == "{" else None, 0))
            path = (*path, 0) if token == "[" else path
            expect_key = token == "{"
        elif token in "}]":
            path = stack.pop()[0]
            expect_key = False
        elif token == ",":
            outer, keys, index = stack.pop()
            expect_key = keys is not None
            path = (*outer, index + 1) if keys is None else outer
            stack.append((outer, keys, index + 1))
        elif expect_key:
            outer, keys, _ = stack[-1]
            name = json.loads(token, strict=False)
            path, expect_key = (*outer, name), False
            if keys is not None and name in keys:
                yield path, keys[name], match.start()
            elif keys is not None:
                keys[name] = match.start()


@lru_cache(maxsize=256)
def _members(text: str, at: int) -> dict[str | int, Member]:
    """The members of the container that starts at `at`, by key or index; of duplicate keys the last counts."""
    members: dict[str | int, Member] = {}
    keyed = text[at] == "{"
    at = _space(text, at + 1)
    while at < len(text) and text[at] not in "]}":
        name: str | int = len(members)
        key_span = None
        if keyed:
            name, end = _DECODER.raw_decode(text, at)
            key_span = (at, end)
            at = _space(text, _space(text, end) + 1)
        end = _value_end(text, at)
        members[name] = (key_span, at, end)
        at = _space(text, end)
        if text[at : at + 1] == ",":
            at = _space(text, at + 1)
    return members


def _space(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]  # the pattern matches anything


def _document_end(text: str, begin: int) -> int:
    """Where the value of a whole text ends; -1 if it is not JSON. No TOML begins with a brace."""
    if text[begin : begin + 1] == "{":
        return len(text.rstrip())
    try:
        return _value_end(text, begin)
    except ValueError:
        return -1


def _value_end(text: str, at: int) -> int:
    """Where the value at `at` ends; the parser knows, and is quick."""
    return _DECODER.raw_decode(text, at)[1]


def _locate_word(text: str, path: tuple[str | int, ...]) -> Place:
    names = [step for step in path if isinstance(step, str)]
    for name in reversed(names):
        match = re.search(rf"(?m)^[^#\n]*?({re.escape(name)})", text)
        if match:
            return _place(text, *match.span(1))
    return _place(text, 0, 0)
