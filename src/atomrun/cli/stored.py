"""Runs that are stored: found by name, read, or a reason why not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from atomcfg.plan import Plan
from atomcfg.planio import PlanError, load_plan
from atomrun.comparison import Sheet, SheetError, load_sheet
from atomrun.resultio import ResultError, load
from atomrun.results import RunResult

from .output import Fault

__all__ = ["find_run", "read_plan", "read_result", "read_sheet", "run_folders"]

RESULT = "verdicts.json"


def run_folders(runs: Path) -> Iterator[Path]:
    return (path.parent for path in runs.glob("*/journal.jsonl"))


def find_run(name: str, runs: str) -> Path:
    """The one run that `name` means: a folder, or the beginning of a name below `runs`."""
    if (Path(name) / "journal.jsonl").is_file():
        return Path(name)
    found = [folder for folder in run_folders(Path(runs)) if folder.name.startswith(name)]
    exact = [folder for folder in found if folder.name == name]
    if len(exact or found) == 1:
        return (exact or found)[0]
    if not found:
        raise Fault(f"there is no run {name!r} in {runs}", "atomrun runs lists them; --runs names the folder")
    names = ", ".join(sorted(folder.name for folder in found))
    raise Fault(f"{name!r} is the beginning of {len(found)} runs", names)


def read_result(folder: Path) -> RunResult:
    try:
        return load((folder / RESULT).read_text("utf-8"))
    except OSError:
        raise Fault(f"{folder.name} has no {RESULT}: it did not come to its end") from None
    except ResultError as error:
        raise Fault(f"{folder / RESULT}: {error}") from None


def read_plan(folder: Path) -> Plan:
    try:
        return load_plan((folder / "plan.json").read_text("utf-8"))
    except OSError as error:
        raise Fault(f"cannot read {folder / 'plan.json'}: {error.strerror}") from None
    except PlanError as error:
        raise Fault(f"{folder / 'plan.json'}: {error}", error.hint) from None


def read_sheet(name: str, runs: str) -> Sheet:
    """What `report.json` says: of a file, or of a run by name."""
    path = Path(name) if Path(name).is_file() else find_run(name, runs) / "report.json"
    try:
        return load_sheet(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise Fault(f"cannot read {path}: {reason}", f"atomrun report {path.parent} writes it again") from None
    except SheetError as error:
        raise Fault(f"{path}: {error}") from None
