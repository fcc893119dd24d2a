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

from attrs import asdict, evolve, field, frozen

from atomcfg.plan import Node, Plan
from atomcfg.planio import dump_plan

from .bindings import run_values
from .context import NodeRun, Options, Record, RunContext
from .driving import driving
from .events import Event, EventKind, Sink, stamped
from .findings import Finding
from .folder import RunFolder, run_id_of
from .host import Host
from .journal import Journal, read_journal
from .redact import Redactor
from .rehearsal.mapping import Mapped, free_ports, map_plan
from .replay import Past, replay
from .results import StageStatus
from .secrets import Secret, SecretError, read_secret
from .signals import Interrupts

__all__ = ["CHECKS", "Request", "assembled", "left_out", "reopened"]

_SCRATCH = "atomrun-rehearsal-"

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
def assembled(
    plan: Plan, request: Request, sink: Sink, interrupts: Interrupts, past: Past | None = None
) -> Iterator[RunContext]:
    """A run, ready to be executed; no node was asked anything yet. Its files stay, a rehearsal's nodes do not.

    With `past`, the run goes on that it tells of. Raises `Driven`.
    """
    past = past or Past()
    began = datetime.fromisoformat(past.began) if past.began else datetime.now(UTC)
    secrets, findings = _secrets(plan, lenient=request.transport == "rehearsal")
    redactor = Redactor(secrets.values())
    run_id = past.run_id or run_id_of(plan.stem, plan.digest, began)
    if past.launches:
        folder = RunFolder(request.runs / run_id, redactor)
    else:
        folder = RunFolder.create(request.runs, run_id, redactor)
        folder.keep("plan.json", dump_plan(plan).encode())
    record = Record(findings=findings, deselected=dict(request.leave_out))
    with _context(plan, request, folder, began, sink, interrupts, past) as run:
        run.journal.write("run", **_launch(run, request))
        run.emit(Event(EventKind.RUN, run_id, "began", str(folder.path), {"cells": len(plan.cells)}))
        yield evolve(run, secrets=secrets, record=record)


@contextmanager
def reopened(folder: Path, plan: Plan, sink: Sink, interrupts: Interrupts) -> Iterator[RunContext]:
    """A run that ended or died, by its folder and the plan in it; its journal goes on.

    Raises `Driven` and `JournalError`.
    """
    past = replay(read_journal(folder / "journal.jsonl"))
    request = Request(folder.parent, past.transport)
    kept = RunFolder(folder, Redactor())
    with _context(plan, request, kept, datetime.now(UTC), sink, interrupts, past) as run:
        yield run


@contextmanager
def _context(
    plan: Plan,
    request: Request,
    folder: RunFolder,
    began: datetime,
    sink: Sink,
    interrupts: Interrupts,
    past: Past,
) -> Iterator[RunContext]:
    start, run_id = time.monotonic() - past.seconds, folder.path.name

    def now() -> float:
        return time.monotonic() - start

    with ExitStack() as stack:
        stack.enter_context(driving(folder.path))
        journal = Journal(folder.path / "journal.jsonl", folder.redactor.text, now)
        stack.callback(journal.close)
        owner = f"{_user()}@{socket.gethostname()}"
        mapped = _rehearsed(plan, stack, journal, past) if request.transport == "rehearsal" else None
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
            past=past,
        )


def _launch(run: RunContext, request: Request) -> dict[str, object]:
    """What the journal keeps of a launch, so that another can go on with its wishes."""
    return {
        "id": run.run_id,
        "digest": run.plan.digest,
        "owner": run.owner,
        "transport": run.transport,
        "began": run.began.isoformat(),
        "options": asdict(request.options, value_serializer=_as_json),
        "leave_out": dict(request.leave_out),
    }


def _as_json(_owner: type, _field: object, value: object) -> object:
    return sorted(value) if isinstance(value, frozenset) else value


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


def _rehearsed(plan: Plan, stack: ExitStack, journal: Journal, past: Past) -> Mapped:
    """A rehearsal's nodes: those of the launch before if they are still there."""
    from .local import connect_local

    scratch = Path(past.mapped.get("scratch", ""))
    texts = {name: past.mapped.get(name, "") for name in ("http", "master")}
    ports = {name: int(text) for name, text in texts.items() if text.isdecimal()}
    if len(ports) < len(texts) or not _is_scratch(scratch):
        scratch, ports = Path(tempfile.mkdtemp(prefix=_SCRATCH)), free_ports()
        values = {"scratch": str(scratch), **{name: str(port) for name, port in ports.items()}}
        journal.write("mapped", values=values)
    stack.callback(shutil.rmtree, scratch, ignore_errors=True)
    return map_plan(plan, scratch, connect_local, os.environ, ports)


def _is_scratch(path: Path) -> bool:
    """Whether a path that a journal names is a rehearsal's folder of this user. It is removed in the end."""
    real = path.parent.resolve() == Path(tempfile.gettempdir()).resolve() and path.name.startswith(_SCRATCH)
    return real and path.is_dir() and not path.is_symlink() and path.stat().st_uid == os.getuid()


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
