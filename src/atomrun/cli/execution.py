"""`atomrun execute`, `rehearse`, `run` and `preflight`."""

from __future__ import annotations

import os
import sys
import tempfile
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from atomcfg.plan import Plan
from atomcfg.planio import PlanError, load_plan
from atomrun.assembly import Request, assembled, left_out, reopened
from atomrun.context import Options
from atomrun.driving import Driven
from atomrun.events import JsonSink, PlainSink, SilentSink, Sink
from atomrun.folder import FolderError
from atomrun.journal import JournalError
from atomrun.replay import Past
from atomrun.results import ExitCode, RunResult, StageStatus
from atomrun.run import check_only, clean_up, execute
from atomrun.signals import Interrupted, Interrupts

from .abandon import abandon
from .output import Fault, print_result, say
from .stored import find_run, read_plan

__all__ = ["execute_run", "run_cleanup", "run_config", "run_plan", "run_preflight", "run_rehearsal"]

_REHEARSAL_LEASE_S = 60  # its nodes are this machine: when the launcher is gone, nothing else comes


def run_plan(args: Namespace) -> int:
    """Execute a plan over its transport."""
    return _execute(_load(args.plan), args, args.transport, args.pull)


def run_rehearsal(args: Namespace) -> int:
    """Execute a plan against stand-ins."""
    args.lease = min(args.lease, _REHEARSAL_LEASE_S)
    return _execute(_load(args.plan), args, "rehearsal", "never")


def run_config(args: Namespace) -> int:
    """Compile and execute. The plan is kept in the run's folder."""
    from atomcfg.cli.compiling import compile_files, parse_override
    from atomcfg.cli.output import report

    overrides = []
    for text in args.overrides:
        override = parse_override(text)
        if override is None:
            raise Fault(f"--set {text}: there is no value", "write --set PATH=VALUE")
        overrides.append(override)
    compiled = compile_files(
        args.config_file,
        cluster=args.cluster_file,
        lab=args.lab,
        profile=args.config_profile,
        overrides=overrides,
    )
    warned = report(compiled.diagnostics, Namespace(quiet=args.quiet, verbose=args.verbose, color="auto"))
    if compiled.plan is None:
        return ExitCode.USAGE
    if args.strict and warned:
        raise Fault("warnings count as errors (--strict)")
    return _execute(compiled.plan, args, args.transport, args.pull)


def run_preflight(args: Namespace) -> int:
    """Look at the nodes and let go of them again."""
    plan = _load(args.plan)
    interrupts = Interrupts()
    sink = _sink(args, plan)
    try:
        with tempfile.TemporaryDirectory(prefix="atomrun-preflight-") as runs, interrupts.installed():
            request = Request(Path(runs), args.transport, Options(pull=args.pull))
            with assembled(plan, request, sink, interrupts) as run:
                if check_only(run):
                    return ExitCode.OK
                found = next(stage for stage in run.record.stages if stage.status is StageStatus.FAILED)
                raise Fault(f"a run could not begin: {found.reason}", found.hint, ExitCode.INFRASTRUCTURE)
    except Interrupted:
        return ExitCode.INTERRUPTED
    finally:
        sink.close()


def run_cleanup(args: Namespace) -> int:
    """Give back the nodes of a run whose launcher is gone."""
    folder = find_run(args.run, args.runs).resolve()
    plan, interrupts = read_plan(folder), Interrupts()
    sink = _sink(args, plan)
    try:
        with _told(), interrupts.installed(), reopened(folder, plan, sink, interrupts) as run:
            return ExitCode.OK if clean_up(run) else ExitCode.INFRASTRUCTURE
    except Interrupted:
        return ExitCode.INTERRUPTED
    finally:
        sink.close()


def _load(name: str) -> Plan:
    try:
        plan = load_plan(Path(name).read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise Fault(f"cannot read {name}: {reason}", "atomcfg plan CONFIG -o plan.json writes one") from None
    except PlanError as error:
        raise Fault(f"{name}: {error}", error.hint) from None
    if plan.unresolved:
        names = ", ".join(plan.unresolved)
        raise Fault(
            f"{name}: values are missing: {names}", "give them in a lab file, and compile without --dry-run"
        )
    return plan


def _execute(plan: Plan, args: Namespace, transport: str, pull: str) -> int:
    if transport == "local" and len(plan.nodes) > 1:
        raise Fault("the local transport has one node, the plan several", "use --transport ssh")
    if args.lease < 1:
        raise Fault(f"--lease {args.lease}: a node needs at least a second to clean itself", "1800 is usual")
    options = Options(
        fail_fast=args.fail_fast,
        pull=pull,
        install=not args.no_install,
        canary=args.canary,
        idle_s=args.idle,
        lease_s=args.lease,
        prev=args.prev or os.environ.get("CVS_INFERENCE_PREV_REPORT_JSON", ""),
        parity=args.parity or os.environ.get("CVS_ATOM_PARITY_REF_JSON", ""),
    )
    return execute_run(plan, Request(_place(args.runs), transport, options, _leave_out(plan, args)), args)


def execute_run(plan: Plan, request: Request, args: Namespace, past: Past | None = None) -> int:
    """Execute a plan, or go on with the run that `past` tells of; show it, and say how it came out."""
    interrupts = Interrupts(pressed=os.environ.get("CI") == "true")
    sink = _sink(args, plan)
    try:
        with _told(), interrupts.installed(), assembled(plan, request, sink, interrupts, past) as run:
            interrupts.give_up = lambda: abandon(run, sink)
            result = execute(run)
            folder = run.folder.path
    finally:
        sink.close()
    return _tell(result, folder, args)


def _place(name: str) -> Path:
    """Where the run's folder is to be, told before a node is asked anything."""
    runs = Path(name)
    try:
        runs.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Fault(f"cannot make {name}: {error.strerror}", "--runs DIR names another place") from None
    return runs


@contextmanager
def _told() -> Iterator[None]:
    """What the run's folder does not take ends the command with a reason; the nodes were left clean before."""
    try:
        yield
    except JournalError as error:
        raise Fault(f"the run's journal is not what a run writes: {error}") from None
    except Driven as error:
        raise Fault(str(error), "atomrun stop RUN ends that launcher") from None
    except FolderError as error:
        text = f"cannot write {error.filename}: {error.strerror}"
        raise Fault(text, "make room there, or name another place: --runs DIR", ExitCode.INFRASTRUCTURE) from None


def _leave_out(plan: Plan, args: Namespace) -> dict[str, str]:
    known = [cell.id for cell in plan.cells]
    unknown = [name for name in args.cell if name not in known]
    if unknown:
        raise Fault(f"the plan has no cell {unknown[0]!r}", f"its cells: {', '.join(known)}")
    cells = frozenset(args.cell)
    if args.session is not None:
        if args.session not in {session.index for session in plan.sessions}:
            raise Fault(f"the plan has no session {args.session}", f"it has {len(plan.sessions)}, from 0")
        cells |= frozenset(cell.id for cell in plan.cells if cell.session == args.session)
    return left_out(plan, cells, frozenset(args.only), frozenset(args.skip))


def _sink(args: Namespace, plan: Plan) -> Sink:
    """JSON events on standard output; else progress on standard error, live on a terminal."""
    if args.json:
        return JsonSink(sys.stdout)
    if args.quiet:
        return SilentSink()
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        from rich.console import Console

        from atomrun.live import LiveSink

        return LiveSink(Console(stderr=True), plan.estimate.bound_s)
    return PlainSink(sys.stderr, verbose=args.verbose)


def _tell(result: RunResult, folder: Path, args: Namespace) -> int:
    if args.json:
        return ExitCode.of(result.verdict)
    say(f"report: {folder / 'report.html'}\n")
    return print_result(result)
