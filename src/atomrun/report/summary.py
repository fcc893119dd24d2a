"""`summary.md`: the run on a CI page (GitHub-flavoured Markdown). Foreign text cannot become markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from atomrun.figures import FIGURES, comparison, duration, figure, visible
from atomrun.gate import tiers, verdicts_of
from atomrun.results import CellState, ExitCode, RunResult, Status
from atomrun.wording import cell_word, counts, headline, is_rehearsal, status_word

__all__ = ["summary"]

_MARKUP = re.compile(r"[&<>|`*\[\]$~\\@#!]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_ROWS = 100  # a CI page is read, not searched; everything is in report.html
_ICONS = {"PASS": "✅", "FAIL": "❌", "INVALID": "🚫", "INCOMPLETE": "🚫", "SKIPPED": "⚠️"}


def summary(result: RunResult) -> str:
    """The Markdown text of a result."""
    lines = [
        f"# {_icon(headline(result))}{escape(headline(result))}: {escape(result.stem)} ({escape(result.profile)})",
        "",
        f"{escape(counts(result))}. Run `{_code(result.run_id)}`, {duration(result.seconds)}, "
        f"exit {ExitCode.of(result.verdict)}, plan `{_code(result.plan_digest[:12])}`.",
        "",
    ]
    if is_rehearsal(result):
        lines += ["**REHEARSAL**: stand-in engines on one machine; no hardware was measured, nothing counts.", ""]
    lines += _section("Why", [f"- {escape(reason)}" for reason in result.reasons])
    lines += _section("Warnings", [f"- {escape(warning)}" for warning in result.warnings])
    lines += _section("Gates that did not pass", _gates(result))
    lines += _section("Cells", _cells(result))
    lines += _section("Checks", _checks(result))
    lines += _section(
        "Where", [f"- {escape(name)}: {escape(value)}" for name, value in sorted(result.facts.items())]
    )
    return "\n".join(lines)


def escape(text: str) -> str:
    """`text` as Markdown that shows it as it stands, on one line."""
    return _MARKUP.sub(lambda match: f"&#{ord(match[0])};", visible(text))


def _code(text: str) -> str:
    """`text` for a code span, in which entities mean nothing."""
    return visible(text).replace("`", "'")


def _section(title: str, body: Sequence[str]) -> list[str]:
    if not body:
        return []
    shown = list(body[:_ROWS])
    if len(body) > len(shown):
        shown += ["", f"… and {len(body) - len(shown)} more: see report.html"]
    return [f"## {title}", "", *shown, ""]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    body = [f"| {' | '.join(row)} |" for row in rows]
    return [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *body] if body else []


def _cells(result: RunResult) -> list[str]:
    rehearsal = is_rehearsal(result)
    rows = []
    for cell in result.cells:
        word = cell_word(cell, tiers(cell.verdicts), rehearsal)
        figures = [figure(cell, name) for name in FIGURES]
        why = cell.reason if cell.state is not CellState.VALID else ""
        rows.append([escape(cell.id), f"{_icon(word)}{escape(word)}", *figures, escape(why)])
    return _table(["cell", "verdict", *FIGURES.values(), "why"], rows)


def _gates(result: RunResult) -> list[str]:
    rows = [
        [
            escape(verdict.owner),
            escape(verdict.metric),
            escape(status_word(verdict, is_rehearsal(result))),
            *map(escape, comparison(verdict)),
            escape(verdict.unit),
            escape(" · ".join(filter(None, (verdict.reason, verdict.source)))),
        ]
        for verdict in verdicts_of(result.cells, result.blocks)
        if verdict.status in (Status.FAIL, Status.SKIPPED)
    ]
    return _table(["cell", "metric", "verdict", "actual", "bound", "margin", "unit", "why, where"], rows)


def _checks(result: RunResult) -> list[str]:
    rows = [
        [escape(block.block), escape(block.id), escape(block.status), duration(block.seconds), escape(block.reason)]
        for block in result.blocks
    ]
    return _table(["check", "id", "status", "took", "why"], rows)


def _icon(word: str) -> str:
    return f"{_ICONS[word]} " if word in _ICONS else ""
