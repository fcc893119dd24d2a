"""`atomrun resume`, `status` and `stop`: runs that others drive, or nobody does any more."""

from __future__ import annotations

import os
import signal
import sys
import time
from argparse import Namespace
from pathlib import Path

from attrs import evolve

from atomrun.driving import Launcher, launcher_of
from atomrun.replay import Past
from atomrun.results import ExitCode
from atomrun.resume import Reopened, ReopenError, reopen

from .execution import execute_run, run_cleanup
from .output import Fault
from .stored import find_run

__all__ = ["run_resume", "run_status", "run_stop"]

_STOP_S = 300.0


def run_resume(args: Namespace) -> int:
    """Go on with a run: finished cells are kept, what still runs is adopted, the rest is run."""
    run = _reopened(args)
    _not_driven(run.folder)
    unfinished = [cell.id for cell in run.plan.cells if cell.id not in {*run.past.cells, *run.past.leave_out}]
    if run.past.verdict not in ("", "INTERRUPTED") and not unfinished:
        raise Fault(f"{run.folder.name} came to its end: {run.past.verdict}", f"atomrun show {run.folder.name}")
    request = evolve(run.request, options=evolve(run.request.options, takeover=args.takeover))
    return execute_run(run.plan, request, args, run.past)


def run_status(args: Namespace) -> int:
    """Where a run is, and who drives it."""
    run = _reopened(args)
    past, cells = run.past, run.plan.cells
    launcher = launcher_of(run.folder)
    left = [cell.id for cell in cells if cell.id not in {*past.cells, *past.leave_out}]
    lines = [
        run.folder.name,
        f"  state     {_state(past, launcher)}",
        f"  cells     {len(cells) - len(left)} of {len(cells)} done" + (f", next {left[0]}" if left else ""),
        f"  launches  {past.launches}, {past.seconds:.0f} s",
        f"  nodes     {', '.join(node.address for node in run.plan.nodes)}",
    ]
    if past.jobs:
        lines.append(f"  jobs      {', '.join(past.jobs)}")
    if not launcher and not past.verdict:
        lines.append(f"  next      atomrun resume {run.folder.name}, or atomrun cleanup {run.folder.name}")
    sys.stdout.write("\n".join(lines) + "\n")
    return ExitCode.OK


def run_stop(args: Namespace) -> int:
    """Ask the launcher of a run to end it, and wait until it has; without a launcher, clean up."""
    folder = find_run(args.run, args.runs)
    launcher = launcher_of(folder)
    if launcher is None:
        sys.stderr.write("no launcher drives this run: cleaning up its nodes\n")
        return run_cleanup(args)
    if not launcher.is_here:
        raise Fault(f"its launcher is process {launcher.pid} on {launcher.host}", "stop it there")
    for number in (signal.SIGTERM, *([signal.SIGTERM] if args.now else [])):
        os.kill(launcher.pid, number)
    deadline = time.monotonic() + _STOP_S
    while launcher_of(folder) == launcher:
        if time.monotonic() > deadline:
            text = f"process {launcher.pid} still runs after {_STOP_S:.0f} s"
            raise Fault(text, f"atomrun stop --now {folder.name}", ExitCode.INFRASTRUCTURE)
        time.sleep(0.05)
    sys.stdout.write(f"{folder.name} has ended; atomrun resume {folder.name} goes on with it\n")
    return ExitCode.OK


def _reopened(args: Namespace) -> Reopened:
    try:
        return reopen(find_run(args.run, args.runs))
    except ReopenError as error:
        raise Fault(str(error), error.hint) from None


def _not_driven(folder: Path) -> None:
    launcher = launcher_of(folder)
    if launcher is not None:
        text = f"process {launcher.pid} on {launcher.host} drives {folder.name}"
        raise Fault(text, f"atomrun stop {folder.name}")


def _state(past: Past, launcher: Launcher | None) -> str:
    if launcher is not None:
        return f"running, driven by process {launcher.pid} on {launcher.host}"
    return past.verdict or "not finished, and nobody drives it"
