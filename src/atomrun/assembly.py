"""From a plan and the user's wishes to a `RunContext`: folder, journal, secrets, nodes."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from attrs import evolve, field, frozen

from atomcfg.plan import Node, Plan
from atomcfg.planio import dump_plan

from .bindings import run_values
from .context import NodeRun, Options, Record, RunContext
from .events import Event, EventKind, Sink, stamped
from .findings import Finding
from .folder import RunFolder, run_id_of
from .host import Host
from .journal import Journal, read_journal
from .redact import Redactor
from .rehearsal.mapping import Mapped, map_plan
from .results import StageStatus
from .secrets import Secret, SecretError, read_secret
from .signals import Interrupts

__all__ = ["CHECKS", "Request", "assembled", "left_out", "reopened"]

CHECKS = ("functional", "accuracy", "long_context", "mtp_quality", "quant_parity", "gpu_metrics", "dmesg")
"""The stages that can be left out by name."""


@frozen
class Request:
    """What to do with a plan. `transport`: ssh, local or rehearsal."""

    runs: Path
    transport: str
    options: Options = field(factory=Options)
    leave_out: Mapping[str, str] = field(factory=dict)  # cell id or stage name -> why


@contextmanager
def assembled(plan: Plan, request: Request, sink: Sink, interrupts: Interrupts) -> Iterator[RunContext]:
    """A run, ready to be executed; no node was asked anything yet. Its files stay, a rehearsal's nodes do not."""
    began = datetime.now(UTC)
    secrets, findings = _secrets(plan, lenient=request.transport == "rehearsal")
    redactor = Redactor(secrets.values())
    run_id = run_id_of(plan.stem, plan.digest, began)
    folder = RunFolder.create(request.runs, run_id, redactor)
    folder.keep("plan.json", dump_plan(plan).encode())
    record = Record(findings=findings, deselected=dict(request.leave_out))
    with _context(plan, request, folder, began, sink, interrupts) as run:
        run.journal.write("run", id=run_id, digest=plan.digest, owner=run.owner, transport=request.transport)
        run.emit(Event(EventKind.RUN, run_id, "began", str(folder.path), {"cells": len(plan.cells)}))
        yield evolve(run, secrets=secrets, record=record)


@contextmanager
def reopened(folder: Path, plan: Plan, sink: Sink, interrupts: Interrupts) -> Iterator[RunContext]:
    """A run that ended or died, by its folder and the plan in it; its journal goes on."""
    first = next(iter(read_journal(folder / "journal.jsonl")), {})
    request = Request(folder.parent, str(first.get("transport", "ssh")))
    kept = RunFolder(folder, Redactor())
    with _context(plan, request, kept, datetime.now(UTC), sink, interrupts) as run:
        yield run


@contextmanager
def _context(
    plan: Plan, request: Request, folder: RunFolder, began: datetime, sink: Sink, interrupts: Interrupts
) -> Iterator[RunContext]:
    start, run_id = time.monotonic(), folder.path.name

    def now() -> float:
        return time.monotonic() - start

    with ExitStack() as stack:
        journal = Journal(folder.path / "journal.jsonl", folder.redactor.text, now)
        stack.callback(journal.close)
        owner = f"{_user()}@{socket.gethostname()}"
        mapped = _mapped(plan, request, stack)
        yield RunContext(
            plan=plan,
            run_id=run_id,
            owner=owner,
            transport=request.transport,
            options=request.options,
            nodes=_nodes(plan, request.transport, run_id, mapped),
            folder=folder,
            journal=journal,
            emit=stamped(sink, now, folder.redactor.text),
            redactor=folder.redactor,
            secrets={},
            interrupts=interrupts,
            values=run_values(run_id, owner, plan.digest, plan.paths, mapped.values if mapped else {}),
            began=began,
            now=now,
        )


def _secrets(plan: Plan, lenient: bool) -> tuple[dict[str, Secret], list[Finding]]:
    """The plan's secrets by name, and what the table of preflight has to say of their files. In a rehearsal nothing
    needs one, so a file that cannot be used is a warning."""
    found: dict[str, Secret] = {}
    findings = []
    for ref in plan.secrets:
        try:
            secret = read_secret(ref)
        except SecretError as error:
            status = StageStatus.WARNING if lenient else StageStatus.FAILED
            findings.append(Finding("launcher", "secret", status, str(error), error.hint))
            continue
        if secret is None:
            text = f"{ref.name}: there is no {ref.file} on the launcher; the run goes on without"
            findings.append(Finding("launcher", "secret", StageStatus.WARNING, text, "needed for gated models"))
        else:
            found[ref.name] = secret
            findings.append(Finding("launcher", "secret", StageStatus.OK, f"{ref.name} from {ref.file}"))
    return found, findings


def _mapped(plan: Plan, request: Request, stack: ExitStack) -> Mapped | None:
    if request.transport != "rehearsal":
        return None
    from .local import connect_local

    scratch = Path(tempfile.mkdtemp(prefix="atomrun-rehearsal-"))
    stack.callback(shutil.rmtree, scratch, ignore_errors=True)
    return map_plan(plan, scratch, connect_local, os.environ)


def _nodes(plan: Plan, transport: str, run_id: str, mapped: Mapped | None) -> tuple[NodeRun, ...]:
    if mapped is not None:
        rows = zip(plan.nodes, mapped.connect, mapped.own, mapped.run_dirs, strict=True)
        return tuple(NodeRun(node, opens, mapped=own, run_dir=run_dir) for node, opens, own, run_dir in rows)
    run_dir = f"{plan.paths.run_root}/{run_id}"
    return tuple(NodeRun(node, _opener(node, transport), run_dir=run_dir) for node in plan.nodes)


def _opener(node: Node, transport: str) -> Callable[[], Host]:
    """How to reach a node. A transport is imported when it is used: plumbum is slow to load."""

    def over_ssh() -> Host:
        from .ssh import connect_ssh

        return connect_ssh(node)

    def here() -> Host:
        from .local import connect_local

        return connect_local(node.rank, node.address, f"/var/tmp/atomrun-{os.getuid()}")  # noqa: S108 - as over SSH

    return here if transport == "local" else over_ssh


def left_out(plan: Plan, cells: frozenset[str], only: frozenset[str], skip: frozenset[str]) -> dict[str, str]:
    """What to leave out, with why. `cells` are cell ids (none: all of them); `only` and `skip` name `CHECKS`, or
    "cells"; `skip` may also name "flags"."""
    reasons = {"flags": "left out (--skip)"} if "flags" in skip else {}
    for cell in plan.cells:
        if cells and cell.id not in cells:
            reasons[cell.id] = "left out (--cell)"
        elif (only and "cells" not in only) or "cells" in skip:
            reasons[cell.id] = "left out (--only, --skip)"
    for name in CHECKS:
        if name in skip or (only and name not in only):
            reasons[name] = "left out (--only, --skip)"
        elif cells and not only:
            reasons[name] = "left out (--cell)"
    return reasons


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())
