"""Diagnostics as text: the place, the line, an underline with a caret behind it, the hint."""

from __future__ import annotations

from collections.abc import Iterable

from atomcfg.diagnostics import Diagnostic, Severity, Span

from .visible import cells, visible

__all__ = ["render_text"]

_COLORS = {Severity.ERROR: "1;31", Severity.WARNING: "1;33", Severity.NOTE: "1;36"}
_PLACE = "34"
_CUT = "…"


def render_text(diagnostics: Iterable[Diagnostic], *, color: bool = False, width: int = 110) -> str:
    """All diagnostics, a blank line between two. Source lines are cut to `width` columns around the caret."""
    return "\n".join("".join(f"{line}\n" for line in _lines(item, color, width)) for item in diagnostics)


def _lines(item: Diagnostic, color: bool, width: int) -> list[str]:
    mark = _COLORS[item.severity]
    head = _paint(f"{item.severity.value}[{item.code}]", mark, color)
    lines = [f"{head}: {visible(item.summary)}", *_place(item.span, mark, color, width)]
    for related in item.related:
        lines.append(f"{_paint('note', _COLORS[Severity.NOTE], color)}: {visible(related.message)}")
        lines += _place(related.span, _COLORS[Severity.NOTE], color, width)
    if item.hint:
        lines.append(f"{_paint('hint', '1', color)}: {visible(item.hint)}")
    return lines


def _place(span: Span, mark: str, color: bool, width: int) -> list[str]:
    where = visible(span.file) + (f":{span.line}:{span.column}" if span.line else "")
    where += f", at {visible(span.path)}" if span.path else ""
    lines = [f"  {_paint('-->', _PLACE, color)} {where}"]
    if span.line and span.text:
        number = f"{span.line} |"
        shown, before, length = _excerpt(span, width - len(number) - 1)
        under = " " * before + _paint("~" * length + "^", mark, color)
        lines.append(f"{_paint(number, _PLACE, color)} {shown}")
        lines.append(f"{_paint('|'.rjust(len(number)), _PLACE, color)} {under}")
    return lines


def _excerpt(span: Span, room: int) -> tuple[str, int, int]:
    """The part of the line to print, the columns before the underline, and the columns under tildes.

    A span of one character gets the caret alone.
    """
    parts = cells(span.text)
    start = min(max(span.column - 1, 0), len(parts))
    end = min(max(span.end_column - 1, start), len(parts))
    widths = [width for _, width in parts]
    first, last = _window(widths, start, room)
    head, tail = _CUT if first else "", _CUT if last < len(parts) else ""
    shown = head + "".join(shown for shown, _ in parts[first:last]) + tail
    before = len(head) + sum(widths[first:start])
    return shown, before, sum(widths[start : min(end, last)]) if end - start > 1 else 0


def _window(widths: list[int], start: int, room: int) -> tuple[int, int]:
    """The characters to show: all if they fit, else those around `start`, up to a third of the room before it."""
    if sum(widths) <= room:
        return 0, len(widths)
    room -= 2 * len(_CUT)
    first = last = start
    used = 0
    while first > 0 and used + widths[first - 1] <= room // 3:
        first -= 1
        used += widths[first]
    while last < len(widths) and used + widths[last] <= room:
        used += widths[last]
        last += 1
    while first > 0 and used + widths[first - 1] <= room:
        first -= 1
        used += widths[first]
    return first, last


def _paint(text: str, code: str, color: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if color else text
