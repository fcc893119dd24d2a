"""Runs one cell's client against the live server."""

from __future__ import annotations

from atomcfg.tokens import fill, fill_all
from atomrun.attend import attend, how_it_ended
from atomrun.context import RunContext
from atomrun.jobs import Task, environment
from atomrun.outcomes import done, failed
from atomrun.prefixcache import note_hits, read_cache
from atomrun.results import StageResult, StageStatus

__all__ = ["bench"]


def bench(run: RunContext) -> StageResult:
    """The client gets a fresh directory. It is done when its process has exited, or when a server ends."""
    current = run.the_cell
    cell, values = current.cell, run.bound(run.head, current.attempt)
    env, secrets = environment(cell.env, values, run.secrets)
    task = Task(
        name=current.job,
        argv=fill_all(cell.argv, values),
        deadline_s=cell.deadline_s,
        env=env,
        secrets=secrets,
        fresh=fill(cell.artifact.directory, values),
    )
    if not run.the_session.cache_asked:
        read_cache(run)
    found = attend(run, task)
    current.started, current.exit = found.started, found.exit
    current.trouble, current.hint = found.trouble, found.hint
    note_hits(run, cell.id)
    if found.exit is None:
        return failed("bench", found.trouble, found.hint, cell=cell.id)
    if found.exit.code != 0:
        reason = f"the client ended with {how_it_ended(found.exit)}"
        return StageResult("bench", StageStatus.WARNING, reason, cell=cell.id)
    return done("bench", f"{found.exit.seconds:.1f} s", cell=cell.id)
