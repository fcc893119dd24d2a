"""How numbers and foreign text are shown, in every report alike."""

from __future__ import annotations

import re

from atomcfg.metrics import Tier, find

from .results import CellResult, CellState, Verdict

__all__ = ["FIGURES", "comparison", "duration", "figure", "number", "visible"]

# What tables of cells show, with its heading; throughput in tok/s, latency in ms.
FIGURES = {
    "output_throughput": "output tok/s",
    "output_tput_per_gpu": "tok/s/GPU",
    "mean_ttft_ms": "TTFT mean",
    "p99_ttft_ms": "TTFT p99",
    "mean_tpot_ms": "TPOT mean",
    "p99_tpot_ms": "TPOT p99",
    "p99_e2el_ms": "E2E p99",
    "success_rate": "success",
}
_SIGNS = {"min": "≥", "min_tok_s": "≥", "min_ratio": "≥", "max": "≤", "max_ms": "≤", "within": "≈"}
# Controls, marks that reorder text, and what no document may hold. Line feeds are the caller's to split on.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)


def comparison(verdict: Verdict) -> tuple[str, str, str]:
    """Actual, bound and margin as text; actual and bound with as many digits as it takes to tell them apart."""
    sign = _SIGNS.get(verdict.kind, "")
    margin = "" if verdict.margin_pct is None else f"{verdict.margin_pct:+.1f} %"
    if verdict.actual is None or verdict.bound is None:
        actual = "–" if verdict.actual is None else number(verdict.actual)
        return actual, "" if verdict.bound is None else f"{sign} {number(verdict.bound)}".strip(), margin
    bound, digits = number(verdict.bound), 4
    shown, other = number(verdict.actual), bound
    while shown == other and verdict.actual != verdict.bound and digits < 16:
        digits += 1
        shown, other = number(verdict.actual, digits), number(verdict.bound, digits)
    return shown, f"{sign} {bound}".strip(), margin


def figure(cell: CellResult, metric: str) -> str:
    """A cell's measurement; a cell that does not count has no performance to show, only its health."""
    known = find(metric)
    health = known is not None and known.tier is Tier.HEALTH
    shown = metric in cell.values and (health or cell.state is CellState.VALID)
    return number(cell.values[metric]) if shown else "–"


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
