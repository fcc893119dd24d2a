"""The words of every report: what a verdict is called, and how numbers and foreign text are shown.

A rehearsal measures no hardware. It never says PASS or FAIL: its gates "held" or were "missed", and everything
of it says REHEARSAL.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from atomrun.gate import TierOutcome
from atomrun.results import CellResult, CellState, RunResult, RunVerdict, Status, Verdict

__all__ = ["cell_word", "comparison", "counts", "headline", "number", "status_word", "visible"]

_REHEARSED = {
    RunVerdict.PASS: "REHEARSAL: gates held",
    RunVerdict.RECORDED: "REHEARSAL: recorded",
    RunVerdict.FAIL: "REHEARSAL: gates missed",
    RunVerdict.INFRASTRUCTURE: "REHEARSAL: infrastructure failed",
    RunVerdict.NO_VERDICT: "REHEARSAL: no verdict",
    RunVerdict.INTERRUPTED: "REHEARSAL: interrupted",
}
_REHEARSED_STATUS = {Status.PASS: "held", Status.FAIL: "missed"}
_SIGNS = {"min": "≥", "min_tok_s": "≥", "min_ratio": "≥", "max": "≤", "max_ms": "≤", "within": "≈"}
# C0, DEL and C1 controls, and the marks that reorder text; line feeds are the caller's to split on.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def headline(result: RunResult) -> str:
    """The verdict in a few words."""
    return _REHEARSED[result.verdict] if is_rehearsal(result) else result.verdict.value


def is_rehearsal(result: RunResult) -> bool:
    return result.transport == "rehearsal"


def status_word(item: Verdict | TierOutcome, rehearsal: bool) -> str:
    """`PASS`, `FAIL`, ...; a comparison that is not enforced is a RECORD with what it would have been."""
    word = _REHEARSED_STATUS.get(item.status, item.status.value) if rehearsal else item.status.value
    if item.recorded and item.status in (Status.PASS, Status.FAIL):
        return f"RECORD ({word.lower()})"
    return word


def cell_word(cell: CellResult, outcomes: Sequence[TierOutcome], rehearsal: bool) -> str:
    """The worst of a cell in one word."""
    if cell.state is not CellState.VALID:
        return cell.state.value.upper()
    for status in (Status.FAIL, Status.PASS):
        enforced = [item for item in outcomes if item.status is status and not item.recorded]
        if enforced:
            return status_word(enforced[0], rehearsal)
    for status in (Status.FAIL, Status.PASS):
        recorded = [item for item in outcomes if item.status is status]
        if recorded:
            return status_word(recorded[0], rehearsal)
    return "RECORD"


def counts(result: RunResult) -> str:
    """How many of the written specs were judged."""
    text = f"specs: {result.specs_written} written, {result.specs_evaluated} evaluated"
    text += f", {result.specs_skipped} skipped"
    unjudged = result.specs_written - result.specs_evaluated - result.specs_skipped
    if unjudged:
        text += f", {unjudged} not judged"
    if result.specs_vacuous:
        text += f"; {result.specs_vacuous} of them cannot fail"
    return text


def comparison(verdict: Verdict) -> tuple[str, str, str]:
    """Actual, bound and margin as text; actual and bound with as many digits as it takes to tell them apart."""
    sign = _SIGNS.get(verdict.kind, "")
    margin = "" if verdict.margin_pct is None else f"{verdict.margin_pct:+.1f} %"
    if verdict.actual is None or verdict.bound is None:
        actual = "–" if verdict.actual is None else number(verdict.actual)
        return actual, "" if verdict.bound is None else f"{sign} {number(verdict.bound)}".strip(), margin
    digits = next(
        (count for count in range(4, 17) if number(verdict.actual, count) != number(verdict.bound, count)), 4
    )
    actual = number(verdict.actual, digits if verdict.actual != verdict.bound else 4)
    return actual, f"{sign} {number(verdict.bound, 4)}".strip(), margin


def number(value: float, digits: int = 4) -> str:
    """At least `digits` significant digits, whole parts in full and grouped: 12,345 · 412.3 · 0.0417."""
    text = f"{value:.{digits}g}"
    if "e" in text or abs(value) >= 10**digits:
        return f"{value:,.0f}" if 1 <= abs(value) < 1e15 else text
    whole, dot, fraction = text.partition(".")
    return f"{int(whole):,}{dot}{fraction}" if abs(value) >= 1000 else text


def duration(seconds: float) -> str:
    """Seconds for people: 41 s, 12 min 05 s, 3 h 07 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def visible(text: str) -> str:
    """`text` on one line with every control character made visible, so that it can only ever be read."""
    return _UNSEEN.sub(_symbol, text)


def _symbol(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"\\u{code:04x}"
