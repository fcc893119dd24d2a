"""A run's folder, read back so that the run can go on or be ended. Nothing in it is trusted."""

from __future__ import annotations

import re
from pathlib import Path

import cattrs
from attrs import evolve, frozen

from atomcfg.plan import Plan
from atomcfg.planio import PlanError, load_plan

from .assembly import Request
from .context import Options
from .journal import JournalError, read_journal
from .replay import Past, replay

__all__ = ["ReopenError", "Reopened", "reopen"]

_CONVERTER = cattrs.Converter(forbid_extra_keys=True)
_RUN_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
_TRANSPORTS = ("ssh", "local", "rehearsal")


class ReopenError(Exception):
    """The folder is not one of a run, or its parts do not belong together; `hint` names the next thing to try."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


@frozen
class Reopened:
    """A run as its launches left it, and what it was asked to do."""

    folder: Path
    plan: Plan
    past: Past
    request: Request


def reopen(folder: Path) -> Reopened:
    """Read plan and journal of the run in `folder`. Raises `ReopenError`."""
    folder = folder.resolve()
    plan = _plan(folder / "plan.json")
    try:
        past = replay(read_journal(folder / "journal.jsonl"))
        options = _CONVERTER.structure(past.options, Options)
    except OSError as error:
        raise ReopenError(f"cannot read {folder / 'journal.jsonl'}: {error.strerror}") from None
    except (JournalError, cattrs.BaseValidationError, TypeError, ValueError) as error:
        raise ReopenError(f"{folder / 'journal.jsonl'} is not what a run writes: {error}") from None
    if past.digest != plan.digest:
        text = f"the plan in {folder} is not the one that its journal is of"
        raise ReopenError(text, "a run goes on with its own plan only: atomrun execute starts a new one")
    if past.run_id != folder.name or not _RUN_ID.fullmatch(past.run_id):
        raise ReopenError(f"{folder} does not have the name of its run", "give the folder its name back")
    if past.transport not in _TRANSPORTS:
        raise ReopenError(f"the journal knows no transport {past.transport!r}")
    known = {cell.id for cell in plan.cells}
    if not past.judged <= known:
        raise ReopenError(f"the plan has no cell {min(past.judged - known)!r}, the journal has")
    return Reopened(
        folder, plan, past, Request(folder.parent, past.transport, evolve(options, takeover=False), past.leave_out)
    )


def _plan(path: Path) -> Plan:
    try:
        return load_plan(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise ReopenError(f"cannot read {path}: {reason}") from None
    except PlanError as error:
        raise ReopenError(f"{path}: {error}", error.hint) from None
