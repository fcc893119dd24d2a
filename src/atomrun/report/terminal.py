"""The verdict on a terminal: worst first, readable without colour and at any width."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from atomrun.figures import comparison, duration, figure, visible
from atomrun.gate import tiers, verdicts_of
from atomrun.results import BlockResult, CellResult, CellState, ExitCode, RunResult, StageStatus, Status, Verdict
from atomrun.wording import cell_word, counts, headline, is_rehearsal, status_word

__all__ = ["final_line", "render"]

_STYLES = {
    "PASS": "green", "held": "green", "FAIL": "bold red", "missed": "bold red", "INVALID": "bold magenta",
    "INCOMPLETE": "bold magenta", "SKIPPED": "yellow", "INFO": "cyan", "ok": "green", "failed": "bold red",
    "error": "bold red", "RECORD (fail)": "yellow", "RECORD (missed)": "yellow",
}  # fmt: skip
_ORDER = {Status.FAIL: 0, Status.INVALID: 1, Status.SKIPPED: 2, Status.PASS: 3, Status.INFO: 4}
_STATES = {CellState.INCOMPLETE: 0, CellState.INVALID: 1, CellState.VALID: 2}
_CLOSEST = 12  # passing gates shown in full
_REASONS = 8
_SHOWN = ("output_throughput", "output_tput_per_gpu", "mean_ttft_ms", "p99_ttft_ms", "mean_tpot_ms", "success_rate")


def final_line(result: RunResult) -> str:
    """The verdict in one line, the last that a command prints."""
    code = ExitCode.of(result.verdict)
    return f"{headline(result)} (exit {code}) · {counts(result)} · {duration(result.seconds)} · {result.run_id}"


def render(result: RunResult, *, failed_only: bool = False) -> RenderableType:
    """Tables of cells, gates and checks, then the reasons and the final line. `failed_only` leaves out what
    passed or was only recorded."""
    rehearsal = is_rehearsal(result)
    parts: list[RenderableType] = [_cells(result.cells, rehearsal, failed_only)] if result.cells else []
    gates = _gates(result, rehearsal, failed_only)
    if gates is not None:
        parts.append(gates)
    if result.blocks:
        parts.append(_checks(result.blocks))
    parts += [_line("warning", warning, "yellow") for warning in result.warnings]
    parts += _reasons(result)
    parts.append(Text(visible(final_line(result)), style="bold"))
    return Group(*parts)


def _cells(cells: Iterable[CellResult], rehearsal: bool, failed_only: bool) -> Table:
    table = _table("REHEARSAL: cells" if rehearsal else "cells")
    table.add_column("cell", overflow="fold", min_width=16)
    table.add_column("verdict", no_wrap=True)
    for name in _SHOWN:
        table.add_column(name.replace("_", " "), justify="right", min_width=8)
    table.add_column("why", overflow="fold", ratio=1)
    for cell in sorted(cells, key=_cell_rank):
        word = cell_word(cell, tiers(cell.verdicts), rehearsal)
        if failed_only and word in ("PASS", "held", "RECORD", "RECORD (pass)", "RECORD (held)"):
            continue
        table.add_row(
            Text(visible(cell.id)),
            _word(word),
            *(figure(cell, name) for name in _SHOWN),
            Text(visible(cell.reason)),
        )
    return table


def _gates(result: RunResult, rehearsal: bool, failed_only: bool) -> Table | None:
    verdicts = verdicts_of(result.cells, result.blocks)
    shown = sorted((item for item in verdicts if item.status is not Status.INFO), key=_rank)
    passed = [item for item in shown if item.status is Status.PASS]
    hidden = passed if failed_only else passed[_CLOSEST:]
    rows = [item for item in shown if item.status is not Status.PASS]
    rows = _fold_invalid(rows) + [item for item in passed if item not in hidden]
    if not rows:
        return None
    table = _table("REHEARSAL: gates, worst first" if rehearsal else "gates, worst first")
    table.add_column("cell or check", overflow="fold", min_width=16)
    table.add_column("metric", overflow="fold", min_width=18)
    table.add_column("verdict", no_wrap=True)
    for name in ("actual", "bound", "margin"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("unit", no_wrap=True)
    table.add_column("why, or where it is written", overflow="fold", ratio=1)
    for item in rows:
        table.add_row(*_gate_row(item, rehearsal))
    if hidden:
        table.caption = f"and {len(hidden)} more that {'held' if rehearsal else 'passed'}, with more room"
    return table


def _gate_row(item: Verdict, rehearsal: bool) -> tuple[RenderableType, ...]:
    actual, bound, margin = comparison(item)
    why = " · ".join(part for part in (item.reason, item.source, "cannot fail" if item.vacuous else "") if part)
    return (
        Text(visible(item.owner)),
        Text(visible(item.metric)),
        _word(status_word(item, rehearsal)),
        actual,
        bound,
        margin,
        Text(visible(item.unit)),
        Text(visible(why)),
    )


def _fold_invalid(items: list[Verdict]) -> list[Verdict]:
    """Without the specs that were not judged because their cell is invalid: the cell's own row says so."""
    return [item for item in items if item.status is not Status.INVALID]


def _checks(blocks: Iterable[BlockResult]) -> Table:
    table = _table("checks")
    table.add_column("check", overflow="fold", min_width=12)
    table.add_column("id", overflow="fold")
    table.add_column("status", no_wrap=True)
    table.add_column("why", overflow="fold", ratio=1)
    for block in blocks:
        name = Text(visible(block.block))
        table.add_row(name, Text(visible(block.id)), _word(block.status), Text(visible(block.reason)))
    return table


def _reasons(result: RunResult) -> list[RenderableType]:
    lines: list[RenderableType] = [_line("why", reason, "bold") for reason in result.reasons[:_REASONS]]
    if len(result.reasons) > _REASONS:
        lines.append(Text(f"and {len(result.reasons) - _REASONS} more reasons"))
    hints = [stage.hint for stage in result.stages if stage.status is StageStatus.FAILED]
    hints += [cell.hint for cell in result.cells]
    lines += [_line("try", hint, "cyan") for hint in dict.fromkeys(filter(None, hints))]
    return lines


def _line(label: str, text: str, style: str) -> Text:
    return Text.assemble((f"{label}: ", style), visible(text))


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", caption_justify="left", title_style="bold", expand=False)


def _word(word: str) -> Text:
    return Text(visible(word), style=_STYLES.get(word, ""))


def _cell_rank(cell: CellResult) -> tuple[int, int, str]:
    worst = min((_ORDER[item.status] + 10 * item.recorded for item in tiers(cell.verdicts)), default=99)
    return _STATES[cell.state], worst, cell.id


def _rank(item: Verdict) -> tuple[bool, int, float]:
    return item.recorded, _ORDER[item.status], item.margin_pct if item.margin_pct is not None else float("inf")
