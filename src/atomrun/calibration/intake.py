"""Which runs may set a bound: complete, healthy, and all of one plan on one image. A baseline from a bad or another
run fails good ones later, or passes bad ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import frozen

from atomcfg.plan import Plan
from atomrun.comparison import Sheet, sheet_of
from atomrun.results import CellResult, CellState, RunResult, RunVerdict

__all__ = ["Measured", "Unfit", "admit"]

_BROKEN = (RunVerdict.INFRASTRUCTURE, RunVerdict.INTERRUPTED)
_SAME = ("plan_digest", "driver", "arch", "image_digests", "gpus", "transport")


class Unfit(Exception):
    """These runs must not set bounds; `hint` says what would do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


@frozen
class Measured:
    """One run that may speak."""

    result: RunResult
    plan: Plan

    @property
    def sheet(self) -> Sheet:
        return sheet_of(self.result, self.plan)


def admit(runs: Sequence[Measured], *, rehearsals: bool = False) -> None:
    """Raises `Unfit` for runs that are not healthy, not of one kind, the same one twice, or rehearsals unasked."""
    if not runs:
        raise Unfit("no run was named")
    names = [run.result.run_id for run in runs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise Unfit(f"{twice} is named twice: it would count as two measurements")
    for run in runs:
        fault = next(_faults(run), None)
        if fault is not None:
            raise Unfit(f"{run.result.run_id} cannot set bounds: {fault}", "calibrate from complete, healthy runs")
        if run.sheet.rehearsal and not rehearsals:
            raise Unfit(
                f"{run.result.run_id} is a rehearsal: no hardware was measured",
                "--rehearsal makes bounds for rehearsals, and says so in the file",
            )
    _one_kind(runs)


def _faults(run: Measured) -> Iterator[str]:
    result = run.result
    if result.verdict in _BROKEN:
        yield "; ".join(result.reasons) or result.verdict.value
    for cell in result.cells:
        if cell.state is not CellState.VALID:
            yield f"{cell.id} is {cell.state.value}: {cell.reason}"
        elif _failed(cell):
            yield f"{cell.id}: {cell.values['failed']:g} requests failed"
    for block in result.blocks:
        if block.status in ("error", "invalid"):
            yield f"{block.block} {block.id}: {block.reason}"
    if not result.cells:
        yield "it has no cells"


def _failed(cell: CellResult) -> bool:
    return cell.values.get("failed", 0.0) > 0


def _one_kind(runs: Sequence[Measured]) -> None:
    first, *others = (run.sheet for run in runs)
    for other in others:
        for name in _SAME:
            ours, theirs = getattr(first, name), getattr(other, name)
            if ours != theirs:
                what = f"{name.replace('_', ' ')} {_short(ours)} and {_short(theirs)}"
                raise Unfit(
                    f"{first.run_id} and {other.run_id} are not of one kind: {what}",
                    "calibrate from runs of one plan on one image",
                )


def _short(value: object) -> str:
    text = ", ".join(value) if isinstance(value, tuple) else str(value)
    return text[:19] or "not known"
