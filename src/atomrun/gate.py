"""One written spec and one measurement to one verdict. Pure; every comparison is written as "pass if"."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from attrs import frozen

from atomcfg.metrics import Tier
from atomcfg.plan import Spec

from .figures import comparison
from .results import BlockResult, CellResult, Status, Verdict
from .tails import thin_tail

__all__ = ["TierOutcome", "describe", "failed_gates", "judge", "judge_all", "tiers", "unjudged", "verdicts_of"]

_CANNOT_FAIL = frozenset({Tier.SCALING, Tier.RECORD})  # as tiers; their specs can, one by one


@frozen
class TierOutcome:
    """The specs of one tier of one cell or check, together. `status` is the worst of them; a tier whose specs
    are all missing FAILS (scaling aside), as in CVS's code. `recorded`: not enforced."""

    tier: str
    status: Status
    recorded: bool
    verdicts: tuple[Verdict, ...]
    reason: str = ""


@frozen
class _Comparison:
    holds: bool
    actual: float
    bound: float
    margin_pct: float | None
    unit: str
    reason: str = ""


def judge(
    spec: Spec,
    values: Mapping[str, float],
    missing: Mapping[str, str] | None = None,
    *,
    owner: str = "",
    source: str = "",
    invalid: str = "",
) -> Verdict:
    """The verdict on one spec.

    `values` are measurements by metric name (`min_ratio` needs its reference too), `missing` says why one is
    absent. `invalid` is why the cell itself does not count: then only health is judged. PASS needs a finite actual
    for which the comparison holds. `info` never fails. For `min_ratio` actual and bound are the ratio.
    """
    actual = values.get(spec.metric)
    if invalid and spec.tier != Tier.HEALTH:
        return _verdict(spec, owner, source, Status.INVALID, actual, reason=invalid)
    if actual is None:
        reason = (missing or {}).get(spec.metric, "not in the artifact")
        return _verdict(spec, owner, source, Status.SKIPPED, None, reason=reason)
    if spec.kind == "info":
        return _verdict(spec, owner, source, Status.INFO, actual)
    if not math.isfinite(actual):
        return _verdict(spec, owner, source, Status.FAIL, None, reason=f"not finite: {actual}")
    found = _compare(spec, actual, values)
    if isinstance(found, str):
        return _verdict(spec, owner, source, Status.FAIL, actual, reason=found)
    return Verdict(
        owner=owner,
        metric=spec.metric,
        kind=spec.kind,
        status=Status.PASS if found.holds else Status.FAIL,
        recorded=_recorded(spec),
        actual=found.actual,
        bound=found.bound,
        margin_pct=found.margin_pct,
        unit=found.unit,
        tier=spec.tier,
        vacuous=spec.vacuous,
        source=source,
        reason=found.reason or _few(spec.metric, values),
    )


def judge_all(
    owner: str,
    specs: Iterable[Spec],
    values: Mapping[str, float],
    missing: Mapping[str, str],
    lines: Mapping[str, str],
    invalid: str = "",
) -> tuple[Verdict, ...]:
    """One verdict per spec, in order. `lines` gives a spec's source by `<owner>/<metric>`."""
    return tuple(
        judge(spec, values, missing, owner=owner, source=lines.get(f"{owner}/{spec.metric}", ""), invalid=invalid)
        for spec in specs
    )


def unjudged(owner: str, specs: Iterable[Spec], lines: Mapping[str, str], reason: str) -> tuple[Verdict, ...]:
    """One INVALID verdict per spec of something that never ran, or never finished."""
    return tuple(
        _verdict(spec, owner, lines.get(f"{owner}/{spec.metric}", ""), Status.INVALID, None, reason)
        for spec in specs
    )


def failed_gates(verdicts: Iterable[Verdict]) -> tuple[str, ...]:
    """What fails the run among the verdicts of one owner, worst margin first: each broken bound that is enforced,
    and each enforced tier of which nothing was measured. One line each."""
    outcomes = tiers(verdicts)
    empty = [f"{item.tier}: {item.reason}" for item in outcomes if item.reason and not item.recorded]
    judged = [verdict for item in outcomes for verdict in item.verdicts]
    broken = [verdict for verdict in judged if verdict.status is Status.FAIL and not verdict.recorded]
    broken.sort(key=lambda verdict: -math.inf if verdict.margin_pct is None else verdict.margin_pct)
    return (*empty, *map(describe, broken))


def verdicts_of(cells: Iterable[CellResult], blocks: Iterable[BlockResult]) -> tuple[Verdict, ...]:
    """All verdicts of a run: cells first, then checks."""
    of_cells = [verdict for cell in cells for verdict in cell.verdicts]
    return (*of_cells, *(verdict for block in blocks for verdict in block.verdicts))


def describe(verdict: Verdict) -> str:
    """One verdict in one line, as a reason."""
    if verdict.actual is None or verdict.bound is None or verdict.status is not Status.FAIL:
        return f"{verdict.metric}: {verdict.reason or verdict.status}"
    actual, bound, margin = comparison(verdict)
    remarks = ", ".join(filter(None, (margin, verdict.reason, verdict.source)))
    return f"{verdict.metric} {actual}, not {bound} {verdict.unit}" + (f" ({remarks})" if remarks else "")


def tiers(verdicts: Iterable[Verdict]) -> tuple[TierOutcome, ...]:
    """The verdicts of one owner by tier, in the vocabulary's order."""
    groups: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        groups.setdefault(verdict.tier, []).append(verdict)
    order = [tier.value for tier in Tier]
    return tuple(_outcome(tier, tuple(groups[tier])) for tier in sorted(groups, key=order.index))


def _outcome(tier: str, verdicts: tuple[Verdict, ...]) -> TierOutcome:
    binding = [verdict for verdict in verdicts if verdict.kind != "info"]
    found = {verdict.status for verdict in verdicts if verdict.kind != "info" or verdict.status is Status.INVALID}
    recorded = all(verdict.recorded for verdict in verdicts)
    if found == {Status.SKIPPED} and tier not in _CANNOT_FAIL:
        return TierOutcome(
            tier, Status.FAIL, recorded, verdicts, f"none of its {len(binding)} metrics is in the artifact"
        )
    for status in (Status.FAIL, Status.INVALID, Status.PASS, Status.SKIPPED):
        if status in found:
            return TierOutcome(tier, status, recorded, verdicts)
    return TierOutcome(tier, Status.INFO, recorded, verdicts)


def _verdict(
    spec: Spec, owner: str, source: str, status: Status, actual: float | None, reason: str = ""
) -> Verdict:
    return Verdict(
        owner=owner,
        metric=spec.metric,
        kind=spec.kind,
        status=status,
        recorded=_recorded(spec),
        actual=actual if actual is not None and math.isfinite(actual) else None,
        bound=None if spec.value is None else float(spec.value),
        margin_pct=None,
        unit=spec.unit,
        tier=spec.tier,
        vacuous=spec.vacuous,
        source=source,
        reason=reason,
    )


def _few(metric: str, values: Mapping[str, float]) -> str:
    beyond = thin_tail(metric, values.get("completed", math.inf))
    return "" if beyond is None else f"of the worst {beyond} of {values['completed']:g} requests"


def _recorded(spec: Spec) -> bool:
    """Whether the spec is compared and shown but cannot fail the run: diagnostics never do."""
    return not spec.enforced or spec.tier == Tier.RECORD


def _compare(spec: Spec, actual: float, values: Mapping[str, float]) -> _Comparison | str:
    """The comparison of a finite actual, or why there is none."""
    if spec.value is None or not math.isfinite(spec.value):
        return "the spec has no finite bound"
    bound = float(spec.value)
    if spec.kind in ("min", "min_tok_s"):
        return _Comparison(actual >= bound, actual, bound, _percent(actual - bound, bound), spec.unit)
    if spec.kind in ("max", "max_ms"):
        return _Comparison(actual <= bound, actual, bound, _percent(bound - actual, bound), spec.unit)
    if spec.kind == "within":
        return _within(spec, actual, bound)
    if spec.kind == "min_ratio":
        return _min_ratio(spec, actual, bound, values)
    return f'unknown kind "{spec.kind}"'


def _within(spec: Spec, actual: float, bound: float) -> _Comparison | str:
    tolerance = spec.tolerance_pct
    if tolerance is None or not tolerance >= 0:
        return "the spec has no tolerance"
    width = abs(bound) * tolerance / 100
    low, high = bound - width, bound + width
    room = _percent(width - abs(actual - bound), bound)
    reason = f"within {tolerance:g} % of {bound:g}: {low:g} to {high:g}"
    return _Comparison(low <= actual <= high, actual, bound, room, spec.unit, reason)


def _min_ratio(spec: Spec, actual: float, bound: float, values: Mapping[str, float]) -> _Comparison | str:
    base = values.get(spec.reference) if spec.reference is not None else None
    if base is None or not math.isfinite(base) or base == 0:
        return f'the reference "{spec.reference}" is {"missing" if base is None else f"{base:g}"}'
    ratio = actual / base
    if not math.isfinite(ratio):
        return f"the ratio to {spec.reference} is not finite"
    reason = f"{actual:g} / {base:g} ({spec.reference})"
    return _Comparison(ratio >= bound, ratio, bound, _percent(ratio - bound, bound), "x", reason)


def _percent(room: float, bound: float) -> float | None:
    """`room` in percent of the bound; None where that says nothing."""
    if bound == 0:
        return None
    margin = 100 * room / abs(bound)
    return margin if math.isfinite(margin) else None
