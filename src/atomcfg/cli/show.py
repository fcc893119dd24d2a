"""`atomcfg show PLAN`, `atomcfg trace PLAN [PATH]`, `atomcfg diff A B`: read plans."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator

from attrs import asdict, evolve

from atomcfg.difference import Change, differences
from atomcfg.plan import Plan, TraceEntry
from atomcfg.suggest import did_you_mean

from .output import complain
from .picture import draw
from .reading import read_plan

__all__ = ["run_diff", "run_show", "run_trace"]


def run_show(args: argparse.Namespace) -> int:
    """The plan as a person reads it, or one cell of it."""
    plan = read_plan(args.plan)
    if isinstance(plan, int):
        return plan
    if args.cell:
        known = [cell.id for cell in plan.cells]
        if args.cell not in known:
            hint = did_you_mean(args.cell, known) or f"the cells are {', '.join(known[:8])}"
            return complain(f'no cell "{args.cell}"', hint)
        plan = _only(plan, args.cell)
    sys.stdout.write(draw(plan, commands=args.commands) + "\n")
    return 0


def _only(plan: Plan, cell_id: str) -> Plan:
    sessions = tuple(evolve(session, cells=(cell_id,)) for session in plan.sessions if cell_id in session.cells)
    return evolve(plan, sessions=sessions)


def run_trace(args: argparse.Namespace) -> int:
    """Where values came from and what they became; exit 2 if the path is none of the plan's."""
    plan = read_plan(args.plan)
    if isinstance(plan, int):
        return plan
    entries = [entry for entry in plan.provenance.trace if _is_below(entry.path, args.path)]
    if not entries:
        known = [entry.path for entry in plan.provenance.trace]
        return complain(f'no value "{args.path}" in this plan', did_you_mean(args.path, known))
    if args.format == "json":
        sys.stdout.write(json.dumps([asdict(entry) for entry in entries], indent=2) + "\n")
    else:
        sys.stdout.write("\n".join(_traced(entries)) + "\n")
    return 0


def _is_below(path: str, wanted: str | None) -> bool:
    return not wanted or path == wanted or path.startswith((f"{wanted}.", f"{wanted}["))


def _traced(entries: Iterable[TraceEntry]) -> Iterator[str]:
    for entry in entries:
        yield f"{entry.path} = {entry.value}"
        yield f"  from  {entry.source}"
        for use in entry.used or ("nothing",):
            yield f"  into  {use}"


def run_diff(args: argparse.Namespace) -> int:
    """What changed in meaning: exit 0 without changes, 1 with, like diff."""
    plans = []
    for name in (args.before, args.after):
        plan = read_plan(name)
        if isinstance(plan, int):
            return plan
        plans.append(plan)
    changes = differences(*plans)
    if args.format == "json":
        sys.stdout.write(json.dumps([asdict(change) for change in changes], indent=2) + "\n")
    elif changes:
        sys.stdout.write("\n".join(_changed(changes)) + "\n")
    else:
        sys.stdout.write(f"no change in meaning, digest {plans[0].digest}\n")
    return 1 if changes else 0


def _changed(changes: Iterable[Change]) -> Iterator[str]:
    group = subject = None
    for change in changes:
        if change.group != group:
            group, subject = change.group, None
            yield group
        if not change.what:
            mark, key = ("-", change.before) if change.after is None else ("+", change.after)
            yield f"  {mark} {change.subject}" + (f"  {key}" if key != "present" else "")
            subject = None
            continue
        if change.subject != subject:
            subject = change.subject
            if subject:
                yield f"  {subject}"
        yield f"    {change.what}: {_side(change.before)} -> {_side(change.after)}"


def _side(text: str | None) -> str:
    return "absent" if text is None else text or "given"
