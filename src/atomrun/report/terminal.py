"""The verdict on a terminal: worst first, readable without colour and at any width."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from atomcfg.metrics import Tier
from atomrun.figures import FIGURES, comparison, duration, figure, visible
from atomrun.gate import describe, tiers, verdicts_of
from atomrun.results import CellResult, CellState, ExitCode, RunResult, StageStatus, Status, Verdict
from atomrun.wording import cell_word, counts, headline, is_rehearsal, status_word

__all__ = ["final_line", "render"]

_STYLES = {
    "PASS": "green", "held": "green", "FAIL": "bold red", "missed": "bold red", "INVALID": "bold magenta",
    "INCOMPLETE": "bold magenta", "SKIPPED": "yellow", "INFO": "cyan", "ok": "green", "failed": "bold red",
    "error": "bold red", "RECORD (fail)": "yellow", "RECORD (missed)": "yellow",
}  # fmt: skip
_ORDER = {Status.FAIL: 0, Status.INVALID: 1, Status.SKIPPED: 2, Status.PASS: 3, Status.INFO: 4}
_STATES = {CellState.INCOMPLETE: 0, CellState.INVALID: 1, CellState.VALID: 2}
_CLOSEST = 8  # passing gates shown in full
_LINES = 8  # of one kind: the files have the rest
_WIDE = 120  # from here on there is room for where a gate is written
_NARROW = 80  # below, gates do not fit in a table: the reasons name what failed
_FINE = ("PASS", "held", "RECORD", "RECORD (pass)", "RECORD (held)")


def final_line(result: RunResult) -> str:
    """The verdict in one line, the last that a command prints."""
    code = ExitCode.of(result.verdict)
    return f"{headline(result)} (exit {code}) · {counts(result)} · {duration(result.seconds)} · {result.run_id}"


def render(result: RunResult, width: int, *, failed_only: bool = False) -> RenderableType:
    """Tables of cells, gates and checks, then the reasons and the final line, none wider than `width` columns.

    `failed_only` leaves out what passed or was only recorded.
    """
    parts: list[RenderableType] = []
    tables = [_cells(result, width, failed_only), _checks(result)]
    if width >= _NARROW:
        tables.insert(1, _gates(result, width, failed_only))
    parts += [table for table in tables if table.row_count or table.caption]
    if width < _WIDE:
        skipped = [item for item in verdicts_of(result.cells, result.blocks) if item.status is Status.SKIPPED]
        parts += _some("skipped", [f"{item.owner} {describe(item)}" for item in skipped], "yellow")
    parts += _some("warning", result.warnings, "yellow")
    parts += _some("why", result.reasons, "bold")
    parts += _some("try", _hints(result), "cyan")
    parts.append(Text(visible(final_line(result)), style="bold"))
    return Group(*parts)


def _cells(result: RunResult, width: int, failed_only: bool) -> Table:
    rehearsal = is_rehearsal(result)
    words = {cell.id: cell_word(cell, tiers(cell.verdicts), rehearsal) for cell in result.cells}
    shown = [cell for cell in result.cells if not (failed_only and words[cell.id] in _FINE)]
    table = _table("REHEARSAL: cells" if rehearsal else "cells")
    table.add_column("cell", overflow="fold", min_width=12)
    table.add_column("verdict", no_wrap=True)
    names = list(FIGURES)[: max(2, (width - 44) // 14)]
    for name in names:
        table.add_column(FIGURES[name], justify="right", no_wrap=True)
    for cell in sorted(shown, key=_cell_rank):
        table.add_row(Text(visible(cell.id)), _word(words[cell.id]), *(figure(cell, name) for name in names))
    return table


def _gates(result: RunResult, width: int, failed_only: bool) -> Table:
    rehearsal = is_rehearsal(result)
    ranked = sorted(verdicts_of(result.cells, result.blocks), key=_rank)
    passed = [item for item in ranked if item.status is Status.PASS]
    shown = [item for item in ranked if item.status in (Status.FAIL, Status.SKIPPED)]
    closest = [] if failed_only else passed[:_CLOSEST]
    table = _table("REHEARSAL: gates, worst first" if rehearsal else "gates, worst first")
    table.add_column("cell or check", overflow="fold", min_width=12)
    table.add_column("metric", overflow="fold", min_width=16)
    table.add_column("verdict", no_wrap=True)
    for name in ("actual", "bound", "margin"):
        table.add_column(name, justify="right", no_wrap=True)
    if width >= _WIDE:
        table.add_column("written at, why", overflow="fold", ratio=1)
    for item in (*shown, *closest):
        table.add_row(*_gate_row(item, rehearsal)[: len(table.columns)])
    if len(passed) > len(closest):
        table.caption = f"and {len(passed) - len(closest)} more that held"
    return table


def _gate_row(item: Verdict, rehearsal: bool) -> tuple[RenderableType, ...]:
    actual, bound, margin = comparison(item)
    why = " · ".join(part for part in (item.source, item.reason, "cannot fail" if item.vacuous else "") if part)
    return (
        Text(visible(item.owner)),
        Text(visible(item.metric)),
        _word(status_word(item, rehearsal)),
        actual,
        Text(visible(f"{bound} {item.unit}" if bound else "")),
        margin,
        Text(visible(why)),
    )


def _checks(result: RunResult) -> Table:
    table = _table("REHEARSAL: checks" if is_rehearsal(result) else "checks")
    table.add_column("check", overflow="fold", min_width=12)
    table.add_column("id", overflow="fold")
    table.add_column("status", no_wrap=True)
    table.add_column("why", overflow="fold", ratio=1)
    for block in result.blocks:
        name = Text(visible(block.block))
        table.add_row(name, Text(visible(block.id)), _word(block.status), Text(visible(block.reason)))
    return table


def _hints(result: RunResult) -> tuple[str, ...]:
    hints = [stage.hint for stage in result.stages if stage.status is StageStatus.FAILED]
    hints += [cell.hint for cell in sorted(result.cells, key=_cell_rank)]
    return tuple(dict.fromkeys(filter(None, hints)))


def _some(label: str, lines: Sequence[str], style: str) -> list[RenderableType]:
    shown: list[RenderableType] = [Text.assemble((f"{label}: ", style), visible(line)) for line in lines[:_LINES]]
    if len(lines) > _LINES:
        shown.append(Text(f"{label}: and {len(lines) - _LINES} more", style="dim"))
    return shown


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", caption_justify="left", title_style="bold", box=box.SIMPLE_HEAD)


def _word(word: str) -> Text:
    return Text(visible(word), style=_STYLES.get(word, ""))


def _cell_rank(cell: CellResult) -> tuple[int, int]:
    worst = min((_ORDER[item.status] + 10 * item.recorded for item in tiers(cell.verdicts)), default=99)
    return _STATES[cell.state], worst


def _rank(item: Verdict) -> tuple[bool, int, float]:
    # Health has no room to spare in a perfect run: a pass of it is never among the closest.
    spare = item.margin_pct is None or (item.tier == Tier.HEALTH and item.status is Status.PASS)
    return item.recorded, _ORDER[item.status], math.inf if spare else item.margin_pct or 0.0
