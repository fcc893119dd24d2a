"""`atomrun runs`, `show` and `gate`: what runs have left."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path

from attrs import evolve

from atomcfg.plan import Cell, Plan
from atomrun.cells import Attempt, judge_cell
from atomrun.conclude import Run, conclude
from atomrun.folder import attempt_folder
from atomrun.resultio import ResultError, load
from atomrun.results import CellResult, CellState, RunResult, RunVerdict
from atomrun.wording import headline

from .finding import find_run, plan_of, result_of, run_folders
from .output import Fault, print_result

__all__ = ["run_gate", "run_runs", "run_show"]

_RESULT = "verdicts.json"


def run_runs(args: Namespace) -> int:
    """One line a run, newest first."""
    for folder in sorted(run_folders(Path(args.runs)), key=lambda path: path.name.rpartition("-")[2], reverse=True):
        try:
            result = load((folder / _RESULT).read_text("utf-8"))
            text = f"{headline(result):<24} {result.started_at} {len(result.cells)} cells"
        except FileNotFoundError:
            text = "unfinished"
        except (OSError, ResultError) as error:
            text = f"unreadable: {error}"
        sys.stdout.write(f"{folder.name}  {text}\n")
    return 0


def run_show(args: Namespace) -> int:
    """The tables of a run, and its own exit status."""
    return print_result(result_of(find_run(args)), failed_only=args.failed)


def run_gate(args: Namespace) -> int:
    """Judge the stored artifacts again. The same artifacts give the same verdicts as the live run."""
    folder = find_run(args)
    return print_result(_judged_again(folder, result_of(folder), plan_of(folder)), failed_only=args.failed)


def _judged_again(folder: Path, result: RunResult, plan: Plan) -> RunResult:
    cells = {cell.id: cell for cell in plan.cells}
    again = tuple(_judged(folder, plan, cells[old.id], old) for old in result.cells)
    left_out = {cell.id: cell.reason for cell in again if cell.reason.startswith("left out")}
    run = Run(
        run_id=result.run_id,
        transport=result.transport,
        started_at=result.started_at,
        seconds=result.seconds,
        cells=again,
        blocks=result.blocks,
        stages=result.stages,
        interrupted=result.verdict is RunVerdict.INTERRUPTED,
        deselected=left_out,
        facts=result.facts,
        warnings=result.warnings,
    )
    return evolve(conclude(plan, run), warnings=result.warnings)


def _judged(folder: Path, plan: Plan, cell: Cell, old: CellResult) -> CellResult:
    """The cell from its stored attempt; one that never finished stays as it was."""
    if old.state is CellState.INCOMPLETE:
        return old
    place = folder / attempt_folder(cell, old.attempt)
    try:
        facts = json.loads((place / "attempt.json").read_text("utf-8"))
    except OSError as error:
        raise Fault(f"cannot read {place / 'attempt.json'}: {error.strerror}") from None
    artifact = place / cell.artifact.name
    text = artifact.read_text("utf-8", "replace") if artifact.is_file() else None
    attempt = Attempt(facts["attempt"], facts["exit"], text, facts["began"], facts["seconds"])
    return evolve(judge_cell(plan, cell, attempt), hint=old.hint)
