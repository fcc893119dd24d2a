"""Bytes to values: encoding, JSON (TOML for the lab file), duplicate keys."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable

from atomcfg.diagnostics import Checked, Diagnostics, Related, Span
from atomcfg.documents import Document, Origin, Source, dotted
from atomcfg.jsontext import DEEPEST, is_deep, parse_json
from atomcfg.positions import duplicates, line_column
from atomcfg.sources import Options, Sources

from .states import Parsed

__all__ = ["read"]

_LONG_NUMBER = r"[0-9]{4000,}"
_UTF = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
# Patterns are text where only what is faulty or rare needs them: to compile all would be felt at every start.
_ADVICE = (
    (r"^\s*(//|/\*|#)", "JSON has no comments; a key that starts with _ may hold one"),
    (r"^\s*[“”‘’]", 'use the straight quotation mark "'),
    (r"^\s*'", "JSON strings stand in double quotation marks"),
    (r"^\s*[}\]]", "remove the comma before it"),
    (r"^[\n\r\t]", "write \\n for a line break and \\t for a tab inside a text"),
)


_TOML_ADVICE = (
    ("Cannot overwrite", "the key is given twice; keep one"),
    ("Unterminated string", "close the quotation mark"),
    ("Invalid value", 'texts stand in quotation marks: key = "text"'),
    ("Invalid statement", "keys with brackets, braces or spaces stand in quotation marks"),
)


class _Constant(ValueError):
    """NaN or Infinity, which JSON does not have."""


def read(sources: Sources, options: Options) -> Checked[Parsed]:
    """Parse every text; the first fault of each text and all duplicate keys are reported together."""
    found = Diagnostics()
    config = _json(sources.config, found)
    cluster = _json(sources.cluster, found) if sources.cluster else None
    lab = _toml(sources.lab, found) if sources.lab else None
    thresholds = {source.reached_as: _json(source, found) for source in sources.thresholds}
    if found.has_errors or config is None:
        return Checked(None, found.items)
    documents = {name: document for name, document in thresholds.items() if document is not None}
    return Checked.of(Parsed(sources, options, config, cluster, lab, documents), found)


def _text(source: Source, found: Diagnostics) -> str | None:
    data = source.data
    for mark, name in _UTF:
        if data.startswith(mark):
            found.error("A101", f"the file is {name}, not UTF-8", Span(source.name), "save it as UTF-8")
            return None
    if data.startswith(codecs.BOM_UTF8):
        found.note("A102", "a byte order mark at the start was ignored", Span(source.name, 1, 1))
        data = data[len(codecs.BOM_UTF8) :]
    if data[:4].count(0) >= 2:
        found.error(
            "A101", "the file looks like UTF-16 or UTF-32, not UTF-8", Span(source.name), "save it as UTF-8"
        )
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8", "replace")
        span = _at(source, data.decode("utf-8", "replace"), len(before))
        found.error("A103", f"byte 0x{data[error.start]:02x} is not UTF-8", span, "save the file as UTF-8")
        return None


def _json(source: Source, found: Diagnostics) -> Document | None:
    text = _text(source, found)
    if text is None:
        return None
    try:
        parsed = parse_json(text, _refuse)
    except json.JSONDecodeError as error:
        _syntax(source, text, error.pos, error.msg, found)
        return None
    except _Constant as error:
        at = _constant_offset(text, str(error))
        found.error(
            "A105", f"{error} is not JSON", _at(source, text, at, len(str(error))), "write a number, or null"
        )
        return None
    except RecursionError:
        _nested(source, found)
        return None
    except ValueError:
        number = re.search(_LONG_NUMBER, text)
        span = _at(source, text, number.start()) if number else Span(source.name)
        found.error("A107", "a number has too many digits", span, "numbers here have at most 18 digits")
        return None
    if parsed.repeated:
        _report_duplicates(source, text, found)
        return None
    if parsed.deep:
        _nested(source, found)
        return None
    return Document(parsed.value, {(): Origin(source.name, text)}, ordinary=parsed.ordinary)


def _nested(source: Source, found: Diagnostics) -> None:
    found.error("A106", "the values are nested too deeply", Span(source.name), f"at most {DEEPEST} levels")


def _refuse(word: str) -> object:
    raise _Constant(word)


def _constant_offset(text: str, word: str) -> int:
    every = re.finditer(r'"(?:[^"\\]|\\.)*"|' + re.escape(word), text)
    return next(match.start() for match in every if match.group() == word)


def _syntax(source: Source, text: str, position: int, message: str, found: Diagnostics) -> None:
    rest = text[position : position + 80]
    if not text.strip():
        found.error("A104", "the file is empty", Span(source.name), 'a config is a JSON object: {"...": ...}')
        return
    hint = next((advice for pattern, advice in _ADVICE if re.match(pattern, rest)), "")
    before = text[:position].rstrip()
    if message.startswith("Illegal trailing comma") or (hint.startswith("remove") and before.endswith(",")):
        position = len(before) - 1 if before.endswith(",") else position
        message, hint = "trailing comma", "remove the comma"
    elif hint.startswith("remove"):
        hint = ""
    if message == "Extra data":
        message, hint = "the object has ended before", "a file holds one object; remove what follows"
    elif not rest.strip():
        message, hint = "the text ends too early", "close every brace, bracket and quotation mark"
    words = message[0].lower() + message[1:]
    words = words.removesuffix(" starting at").removesuffix(" at")
    found.error("A104", f"not JSON: {words}", _at(source, text, min(position, len(text))), hint)


def _at(source: Source, text: str, offset: int, width: int = 1) -> Span:
    line, column = line_column(text, offset)
    shown = text.split("\n", line)[line - 1].rstrip("\r")
    return Span(source.name, line, column, column + width, text=shown)


def _report_duplicates(source: Source, text: str, found: Diagnostics) -> None:
    for path, first, second in duplicates(text):
        key = json.dumps(path[-1], ensure_ascii=False)
        span = _at(source, text, second, len(key))
        span = Span(span.file, span.line, span.column, span.end_column, dotted(path), span.text)
        related = Related("first given here", _at(source, text, first, len(key)))
        found.error("A108", f"key {key} is given twice", span, "keep one of the two", [related])


def _toml(source: Source, found: Diagnostics) -> Document | None:
    text = _text(source, found)
    if text is None:
        return None
    import tomllib  # here, because only a lab file needs it

    try:
        value = tomllib.loads(text)
    except RecursionError:
        _nested(source, found)
        return None
    except tomllib.TOMLDecodeError as error:
        match = re.search(r"at line (\d+), column (\d+)", str(error))
        line, column = (int(match.group(1)), int(match.group(2))) if match else (text.count("\n") + 1, 1)
        shown = _line(text, line)
        message = re.sub(r" \(at .*\)$", "", str(error))
        span = Span(source.name, line, column, column + 1, text=shown)
        hint = next((advice for start, advice in _TOML_ADVICE if message.startswith(start)), "")
        found.error("A109", f"not TOML: {message[:1].lower()}{message[1:]}", span, hint)
        return None
    if is_deep(value):
        _nested(source, found)
        return None
    return Document(value, {(): Origin(source.name, text)})


def _line(text: str, line: int) -> str:
    lines: Iterable[str] = text.split("\n")
    return dict(enumerate(lines, 1)).get(line, "").rstrip("\r")
