"""Find the line and column of a path in a JSON or TOML text, on demand."""

from __future__ import annotations

import re

__all__ = ["line_column", "locate"]

_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_SCALAR = re.compile(r"[^\s,\]}]+")
_SKIP = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]|[^"\[\]{}]+', re.DOTALL)


def line_column(text: str, offset: int) -> tuple[int, int]:
    """1-based line and column of a character offset."""
    line = text.count("\n", 0, offset) + 1
    return line, offset - (text.rfind("\n", 0, offset) + 1) + 1


def locate(text: str, path: tuple[str | int, ...], key: bool = False) -> tuple[int, int, int]:
    """Line, column and end column of the value at `path` in a JSON text, or of its key with `key`.

    Of duplicate keys the last counts, as for the parser. A path that is not there gives its nearest parent.
    A text that does not start as JSON is taken for TOML, where the last key of the path is searched.
    """
    start = _SPACE.match(text).end()  # type: ignore[union-attr]  # the pattern matches anything
    if text[start : start + 1] not in ("{", "["):
        return _locate_word(text, path)
    begin, end = start, _value_end(text, start)
    key_span: tuple[int, int] | None = None
    for step in path:
        found = _child(text, begin, step)
        if found is None:
            break
        key_span, begin, end = found
    if key and key_span is not None and path and isinstance(path[-1], str):
        begin, end = key_span
    line, column = line_column(text, begin)
    newline = text.find("\n", begin, end)
    return line, column, column + (end if newline < 0 else newline) - begin


def _child(text: str, at: int, step: str | int) -> tuple[tuple[int, int] | None, int, int] | None:
    """The key span and the value span of one member of the container that starts at `at`."""
    import json

    found = None
    index = 0
    at = _space(text, at + 1)
    while at < len(text) and text[at] not in "]}":
        key_span = None
        name: str | int = index
        if isinstance(step, str):
            match = _STRING.match(text, at)
            if match is None:
                return found
            key_span = match.span()
            name = json.loads(match.group(), strict=False)
            at = _space(text, _space(text, match.end()) + 1)
        end = _value_end(text, at)
        if name == step:
            found = (key_span, at, end)
            if isinstance(step, int):
                return found
        index += 1
        at = _space(text, end)
        if text[at : at + 1] == ",":
            at = _space(text, at + 1)
    return found


def _space(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]  # the pattern matches anything


def _value_end(text: str, at: int) -> int:
    first = text[at : at + 1]
    if first == '"':
        match = _STRING.match(text, at)
        return match.end() if match else len(text)
    if first not in ("{", "["):
        match = _SCALAR.match(text, at)
        return match.end() if match else at
    depth = 0
    for match in _SKIP.finditer(text, at):
        token = match.group()
        if token in ("{", "["):
            depth += 1
        elif token in ("}", "]"):
            depth -= 1
            if depth == 0:
                return match.end()
    return len(text)


def _locate_word(text: str, path: tuple[str | int, ...]) -> tuple[int, int, int]:
    names = [step for step in path if isinstance(step, str)]
    for name in reversed(names):
        match = re.search(rf"(?m)^[^#\n]*?({re.escape(name)})", text)
        if match:
            line, column = line_column(text, match.start(1))
            return line, column, column + len(name)
    return 1, 1, 1
