"""`junit.xml`: a case per cell and tier, and per check, as CI systems read them. Needs junitparser.

A comparison that is not enforced, and whatever held in a rehearsal, is a *skipped* case: no viewer may count it as
passed.
"""

from __future__ import annotations

from collections.abc import Iterator

import junitparser

from atomrun.figures import visible
from atomrun.gate import TierOutcome, describe, tiers
from atomrun.results import BlockResult, CellResult, CellState, RunResult, RunVerdict, StageStatus, Status
from atomrun.wording import headline, is_rehearsal, status_word

__all__ = ["junit"]

Fault = junitparser.Failure | junitparser.Error | junitparser.Skipped
Ending = Fault | None
_BLOCK_ENDINGS = {
    "ok": None,
    "failed": junitparser.Failure,
    "invalid": junitparser.Failure,
    "error": junitparser.Error,
}
_STATE_ENDINGS = {
    CellState.VALID: None,
    CellState.INVALID: junitparser.Failure,
    CellState.INCOMPLETE: junitparser.Error,
}
_RUN_ENDINGS = {RunVerdict.PASS: None, RunVerdict.RECORDED: None, RunVerdict.FAIL: junitparser.Failure}


def junit(result: RunResult) -> bytes:
    """The XML document of a result, UTF-8."""
    rehearsal = is_rehearsal(result)
    suite = junitparser.TestSuite(
        _text(f"{'REHEARSAL ' if rehearsal else ''}atomrun {result.stem} {result.profile}")
    )
    suite.timestamp = result.started_at
    for case, ending in _cases(result, rehearsal):
        if rehearsal and ending is None:
            ending = junitparser.Skipped("REHEARSAL: nothing was wrong, and no hardware was measured")
        case.result = [ending] if ending is not None else []
        suite.add_testcase(case)
    document = junitparser.JUnitXml()
    document.add_testsuite(suite)
    document.update_statistics()
    xml: bytes = document.tostring()
    return xml


def _cases(result: RunResult, rehearsal: bool) -> Iterator[tuple[junitparser.TestCase, Ending]]:
    for cell in result.cells:
        owner = f"{result.stem}.{cell.id}"
        yield _case("validity", owner, cell.seconds), _ended(_STATE_ENDINGS[cell.state], cell.reason)
        yield from _tier_cases(owner, cell, rehearsal)
    for block in result.blocks:
        owner = f"{result.stem}.{block.block}"
        kind = _BLOCK_ENDINGS.get(block.status, junitparser.Skipped)
        yield _case(block.id, owner, block.seconds), _ended(kind, f"{block.status}: {block.reason}", block.details)
        yield from _tier_cases(f"{owner}.{block.id}", block, rehearsal)
    for stage in result.stages:
        if stage.status is StageStatus.FAILED:
            yield (
                _case(stage.stage, f"{result.stem}.stages", stage.seconds),
                _ended(junitparser.Error, stage.reason),
            )
    kind = _RUN_ENDINGS.get(result.verdict, junitparser.Error)
    yield _case("verdict", result.stem, result.seconds), _ended(kind, headline(result), result.reasons)


def _tier_cases(
    owner: str, of: CellResult | BlockResult, rehearsal: bool
) -> Iterator[tuple[junitparser.TestCase, Ending]]:
    for outcome in tiers(of.verdicts):
        yield _case(outcome.tier, owner, 0.0), _tier_ending(outcome, rehearsal)


def _tier_ending(outcome: TierOutcome, rehearsal: bool) -> Ending:
    if outcome.status is Status.PASS and not outcome.recorded:
        return None
    lines = [describe(item) for item in outcome.verdicts if item.status in (outcome.status, Status.FAIL)]
    broken = outcome.status is Status.FAIL and not outcome.recorded
    message = ": ".join(filter(None, (status_word(outcome, rehearsal), outcome.reason)))
    return _ended(junitparser.Failure if broken else junitparser.Skipped, message, lines)


def _case(name: str, owner: str, seconds: float) -> junitparser.TestCase:
    return junitparser.TestCase(_text(name), _text(owner), round(seconds, 3))


def _ended(
    kind: type[Fault] | None, message: str, lines: Iterator[str] | list[str] | tuple[str, ...] = ()
) -> Ending:
    if kind is None:
        return None
    ending = kind(_text(message))
    ending.text = "\n".join(_text(line) for line in lines)
    return ending


def _text(text: str) -> str:
    return visible(text)
