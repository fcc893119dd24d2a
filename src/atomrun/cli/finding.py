"""Runs on this machine's disk: which one is meant, and what is in it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from atomcfg.plan import Plan
from atomcfg.planio import PlanError, load_plan
from atomrun.resultio import ResultError, load
from atomrun.results import RunResult

from .output import Fault

__all__ = ["find_run", "plan_of", "result_of", "run_folders"]

_RESULT = "verdicts.json"


def run_folders(runs: Path) -> Iterator[Path]:
    return (path.parent for path in runs.glob("*/journal.jsonl"))


def find_run(args: Namespace) -> Path:
    """The one run that `args.run` names: a folder, or the beginning of a name below `--runs`."""
    if (Path(args.run) / "journal.jsonl").is_file():
        return Path(args.run).resolve()
    found = [folder for folder in run_folders(Path(args.runs)) if folder.name.startswith(args.run)]
    exact = [folder for folder in found if folder.name == args.run]
    if len(exact or found) == 1:
        return (exact or found)[0]
    if not found:
        raise Fault(
            f"there is no run {args.run!r} in {args.runs}", "atomrun runs lists them; --runs names the folder"
        )
    names = ", ".join(sorted(folder.name for folder in found))
    raise Fault(f"{args.run!r} is the beginning of {len(found)} runs", names)


def result_of(folder: Path) -> RunResult:
    try:
        return load((folder / _RESULT).read_text("utf-8"))
    except OSError:
        raise Fault(f"{folder.name} has no {_RESULT}: it did not come to its end") from None
    except ResultError as error:
        raise Fault(f"{folder / _RESULT}: {error}") from None


def plan_of(folder: Path) -> Plan:
    try:
        return load_plan((folder / "plan.json").read_text("utf-8"))
    except OSError as error:
        raise Fault(f"cannot read {folder / 'plan.json'}: {error.strerror}") from None
    except PlanError as error:
        raise Fault(f"{folder / 'plan.json'}: {error}", error.hint) from None
