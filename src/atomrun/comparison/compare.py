"""Two runs of the reader's choice. What must be equal is, or the reader said that it is what they ask about."""

from __future__ import annotations

from collections.abc import Collection

from attrs import frozen

from .differences import Difference, differences, same_run, unequal
from .rows import Change, cell_changes, score_changes, unmatched
from .sheet import Sheet

__all__ = ["Comparison", "Refusal", "compare"]


class Refusal(Exception):
    """These two cannot be compared; `hint` says what would."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


@frozen
class Comparison:
    """`ours` against the baseline `theirs`: every metric that both measured."""

    ours: Sheet
    theirs: Sheet
    differs: tuple[Difference, ...]
    cells: tuple[Change, ...]
    scores: tuple[Change, ...]
    unmatched: tuple[str, ...]
    notes: tuple[str, ...]


def compare(ours: Sheet, theirs: Sheet, across: Collection[str] = ()) -> Comparison:
    """Raises `Refusal` for one run twice, for environments that differ in more than `across` names (see
    `differences.ENVIRONMENT`), and where nothing was measured on both sides."""
    same = same_run(ours, theirs)
    if same:
        raise Refusal(same, "name two runs; atomrun runs lists them")
    strange = unequal(ours, theirs, across)
    if strange:
        text = "; ".join(f"{item.what} is {item.ours}, not {item.theirs}" for item in strange)
        words = " ".join(f"--across {item.what}" for item in strange)
        raise Refusal(f"the runs are not of one environment: {text}", f"if that is the question, add {words}")
    metrics = dict.fromkeys(name for cell in ours.cells for name in cell.values)
    cells, scores = cell_changes(ours, theirs, metrics), score_changes(ours, theirs)
    if not cells and not scores:
        raise Refusal(
            "nothing was measured on both sides", "; ".join(unmatched(ours, theirs)[:3]) or "neither run has cells"
        )
    found = differences(ours, theirs)
    return Comparison(ours, theirs, found, cells, scores, unmatched(ours, theirs), _notes(ours, theirs, found))


def _notes(ours: Sheet, theirs: Sheet, differs: tuple[Difference, ...]) -> tuple[str, ...]:
    notes = []
    if ours.rehearsal or theirs.rehearsal:
        notes.append("REHEARSAL: stand-in engines; no hardware was measured")
    if not differs:
        notes.append(
            "model, driver, image, hosts and plan are the same: what differs here is noise, or the machine"
        )
    if not (ours.image_digests and theirs.image_digests) and (ours.image or theirs.image):
        notes.append("the image digest of a run is not known: one tag can stand for two images")
    return tuple(notes)
