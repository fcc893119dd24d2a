"""What the deck shows, worked out: plain values for the template, which only lays them out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from attrs import evolve, frozen

from atomcfg.metrics import Tier
from atomcfg.plan import Plan
from atomcfg.shell import quoted
from atomcfg.tokens import Token, fill
from atomrun.figures import FIGURES, comparison, duration, figure
from atomrun.gate import TierOutcome, tiers
from atomrun.results import CellResult, RunResult, StageResult, StageStatus, Status, Verdict
from atomrun.sweep import past_knee
from atomrun.wording import cell_word, is_rehearsal, status_word

__all__ = ["Gate", "Group", "Row", "Track", "groups", "rows", "tone_of", "tracks"]

_TONES = {
    Status.PASS: "good",
    Status.FAIL: "bad",
    Status.INVALID: "void",
    Status.SKIPPED: "warn",
    Status.INFO: "calm",
}
_RECORDED = {Status.PASS: "calm", Status.FAIL: "warn"}
_ROOM = 50.0  # percent of margin at which the bar is full
_WORDS = {
    "good": ("PASS", "held", "ok"),
    "bad": ("FAIL", "missed", "failed", "error"),
    "void": ("INVALID", "invalid", "INCOMPLETE"),
    "warn": ("RECORD (fail)", "RECORD (missed)", "not_scanned", "unsupported"),
}
_LOADING = ("preflight", "launch", "fabric", "model", "start", "ready")


@frozen
class Gate:
    """One verdict. `room` in -1..1 draws the margin."""

    metric: str
    word: str
    tone: str
    actual: str
    bound: str
    margin: str
    unit: str
    room: float | None
    vacuous: bool
    source: str
    reason: str


@frozen
class Chip:
    """One tier of one cell in the matrix."""

    word: str
    detail: str
    tone: str


@frozen
class Group:
    """One tier of one cell, opened."""

    tier: str
    word: str
    tone: str
    reason: str
    gates: tuple[Gate, ...]


@frozen
class Row:
    """One cell: its line in the matrix and what it opens to. `past` says that it lies beyond its sweep's knee."""

    anchor: str
    id: str
    key: str
    word: str
    tone: str
    reason: str
    hint: str
    past: str
    closest: str
    chips: tuple[Chip | None, ...]
    groups: tuple[Group, ...]
    figures: tuple[str, ...]  # as `FIGURES`
    values: Mapping[str, float]  # that no spec bounds
    command: str
    took: str


@frozen
class Bar:
    """A stage on its track; `left`, `width` and `waiting` in percent (`waiting` of the bar)."""

    left: float
    width: float
    waiting: float
    tone: str
    label: str


@frozen
class Track:
    name: str
    took: str
    bars: tuple[Bar, ...]


def rows(result: RunResult, plan: Plan, columns: Sequence[str]) -> tuple[Row, ...]:
    """The matrix, in the plan's order; `columns` are the tiers that it shows."""
    commands = {cell.id: command(cell.argv) for cell in plan.cells}
    past = past_knee(plan, result.cells)
    rehearsal = is_rehearsal(result)
    return tuple(
        evolve(
            _row(f"cell-{index}", cell, columns, rehearsal),
            command=commands.get(cell.id, ""),
            past=past.get(cell.id, ""),
        )
        for index, cell in enumerate(result.cells)
    )


def groups(verdicts: Iterable[Verdict], rehearsal: bool) -> tuple[Group, ...]:
    """Verdicts by tier, the worst margins of each first."""
    return tuple(_group(outcome, rehearsal) for outcome in tiers(verdicts))


def tracks(result: RunResult) -> tuple[Track, ...]:
    """The timeline: a track per cell, and one per stage that is about no cell."""
    total = max([result.seconds, *(stage.started + stage.seconds for stage in result.stages)], default=0.0)
    named: dict[str, list[StageResult]] = {}
    for stage in result.stages:
        named.setdefault(stage.cell or stage.stage, []).append(stage)
    return tuple(
        Track(
            name=name,
            took=duration(sum(stage.seconds for stage in stages)),
            bars=tuple(_bar(stage, total or 1.0) for stage in stages),
        )
        for name, stages in named.items()
    )


def command(argv: Iterable[Token]) -> str:
    """An argv as shell text; what only a run knows shows as `{name}`."""
    return quoted([fill(token, unknown=lambda name: f"{{{name}}}") for token in argv])


def tone_of(word: str) -> str:
    """The colour of a word; never the only thing that says it."""
    return next((tone for tone, words in _WORDS.items() if word in words), "calm")


def _row(anchor: str, cell: CellResult, columns: Sequence[str], rehearsal: bool) -> Row:
    outcomes = {outcome.tier: outcome for outcome in tiers(cell.verdicts)}
    word = cell_word(cell, tuple(outcomes.values()), rehearsal)
    gated = {verdict.metric for verdict in cell.verdicts}
    return Row(
        anchor=anchor,
        id=cell.id,
        key=cell.key,
        word=word,
        tone=tone_of(word),
        reason=cell.reason,
        hint=cell.hint,
        past="",
        closest=_closest(cell.verdicts),
        chips=tuple(_chip(outcomes[tier], rehearsal) if tier in outcomes else None for tier in columns),
        groups=groups(cell.verdicts, rehearsal),
        figures=tuple(figure(cell, name) for name in FIGURES),
        values={name: value for name, value in cell.values.items() if name not in gated},
        command="",
        took=duration(cell.seconds),
    )


def _closest(verdicts: Iterable[Verdict]) -> str:
    """The gate with the least room. Health has none to spare in a perfect run and is left out while it passes."""
    margins = [
        (verdict.margin_pct, verdict.metric)
        for verdict in verdicts
        if verdict.margin_pct is not None and (verdict.tier != Tier.HEALTH or verdict.status is Status.FAIL)
    ]
    margin, metric = min(margins, default=(0.0, ""))
    return f"{metric} {margin:+.1f} %" if metric else ""


def _chip(outcome: TierOutcome, rehearsal: bool) -> Chip:
    """A tier that is not enforced says only what it would have been; the row says that it is a record."""
    count = len(outcome.verdicts)
    same = sum(verdict.status is outcome.status for verdict in outcome.verdicts)
    word = status_word(evolve(outcome, recorded=False), rehearsal)
    return Chip(
        word=word.lower() if outcome.recorded and outcome.status in _RECORDED else word,
        detail=str(count) if same == count else f"{same}/{count}",
        tone=_tone(outcome),
    )


def _group(outcome: TierOutcome, rehearsal: bool) -> Group:
    ranked = sorted(outcome.verdicts, key=_urgency)
    return Group(
        tier=outcome.tier,
        word=status_word(outcome, rehearsal),
        tone=_tone(outcome),
        reason=outcome.reason,
        gates=tuple(_gate(verdict, rehearsal) for verdict in ranked),
    )


def _tone(item: Verdict | TierOutcome) -> str:
    return (_RECORDED if item.recorded else {}).get(item.status, _TONES[item.status])


def _urgency(verdict: Verdict) -> tuple[int, float]:
    order = (Status.FAIL, Status.INVALID, Status.SKIPPED, Status.PASS, Status.INFO)
    margin = float("inf") if verdict.margin_pct is None else verdict.margin_pct
    return order.index(verdict.status), margin


def _gate(verdict: Verdict, rehearsal: bool) -> Gate:
    actual, bound, margin = comparison(verdict)
    room = verdict.margin_pct
    return Gate(
        metric=verdict.metric,
        word=status_word(verdict, rehearsal),
        tone=_tone(verdict),
        actual=actual,
        bound=bound,
        margin=margin,
        unit=verdict.unit,
        room=None if room is None else max(-1.0, min(1.0, room / _ROOM)),
        vacuous=verdict.vacuous,
        source=verdict.source,
        reason=verdict.reason,
    )


def _bar(stage: StageResult, total: float) -> Bar:
    tone = "load" if stage.stage in _LOADING else "work"
    if stage.status is StageStatus.FAILED:
        tone = "bad"
    label = f"{stage.stage}: {duration(stage.seconds)}"
    if stage.waiting:
        label += f", {duration(stage.waiting)} waiting"
    if stage.reason:
        label += f". {stage.reason}"
    return Bar(
        left=100 * stage.started / total,
        width=100 * stage.seconds / total,
        waiting=100 * stage.waiting / stage.seconds if stage.seconds else 0.0,
        tone=tone,
        label=label,
    )
