"""`atomrun runs`, `show`, `gate` and `report`: what runs have left."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from pathlib import Path

from attrs import evolve

from atomcfg.plan import Plan
from atomrun.driving import launcher_of
from atomrun.rejudge import RejudgeError, rejudge
from atomrun.report import References, write
from atomrun.resultio import ResultError, load
from atomrun.results import RunResult
from atomrun.wording import headline

from .output import Fault, print_result
from .stored import RESULT, find_run, read_plan, read_result, run_folders

__all__ = ["run_gate", "run_report", "run_runs", "run_show"]


def run_runs(args: Namespace) -> int:
    """One line a run, newest first."""
    folders = list(run_folders(Path(args.runs)))
    if not folders:
        sys.stderr.write(f"there are no runs in {args.runs}\n")
    for folder in sorted(folders, key=lambda path: path.name.rpartition("-")[2], reverse=True):
        try:
            result = load((folder / RESULT).read_text("utf-8"))
            text = f"{headline(result):<24} {result.started_at} {len(result.cells)} cells"
        except FileNotFoundError:
            launcher = launcher_of(folder)
            text = f"running (process {launcher.pid} on {launcher.host})" if launcher else "unfinished"
        except (OSError, ResultError) as error:
            text = f"unreadable: {error}"
        sys.stdout.write(f"{folder.name}  {text}\n")
    return 0


def run_show(args: Namespace) -> int:
    """The tables of a run, and its own exit status."""
    return print_result(read_result(find_run(args.run, args.runs)), failed_only=args.failed)


def run_gate(args: Namespace) -> int:
    """Judge the stored artifacts again, by the plan's bounds or by those of a file. Nothing is written."""
    folder = find_run(args.run, args.runs)
    result, plan = read_result(folder), read_plan(folder)
    if args.thresholds:
        plan, result = _rebound(plan, args.thresholds), _noted(result, args.thresholds)
    try:
        return print_result(rejudge(folder, result, plan), failed_only=args.failed)
    except RejudgeError as error:
        raise Fault(str(error)) from None


def run_report(args: Namespace) -> int:
    """Write a run's reports again, beside the same verdicts."""
    folder = find_run(args.run, args.runs)
    references = References(
        args.prev or os.environ.get("CVS_INFERENCE_PREV_REPORT_JSON", ""),
        args.parity or os.environ.get("CVS_ATOM_PARITY_REF_JSON", ""),
    )
    for path in write(folder, read_result(folder), read_plan(folder), references):
        sys.stdout.write(f"{path}\n")
    return 0


def _rebound(plan: Plan, name: str) -> Plan:
    from atomcfg.cli.output import report
    from atomcfg.documents import Source
    from atomcfg.rebinding import rebind

    try:
        bound = rebind(plan, Source("threshold", Path(name).name, Path(name).read_bytes()))
    except OSError as error:
        raise Fault(f"cannot read {name}: {error.strerror}") from None
    report(bound.diagnostics, Namespace(quiet=False, verbose=False, color="auto"))
    if bound.value is None:
        raise Fault(f"{name} cannot be used", "atomcfg check FILE tells the same")
    return bound.value


def _noted(result: RunResult, name: str) -> RunResult:
    text = f"judged by {Path(name).name}, not by the thresholds that the run was started with"
    return evolve(result, warnings=(*result.warnings, text))
