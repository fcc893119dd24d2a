"""Runs a job on the head while every rank's server is watched: the first death anywhere ends it at once."""

from __future__ import annotations

from attrs import frozen

from atomcfg.tokens import fill

from .context import NodeRun, RunContext
from .events import Event, EventKind
from .firsterror import first_error, tail
from .host import Exit, HostError
from .idle import LOOK_S, Silence
from .jobs import Task, job
from .signals import Interrupted
from .watch import Broken, Ended

__all__ = ["Attended", "attend", "how_it_ended", "log_text", "server_port"]

_MARGIN_S = 60.0  # the node enforces a job's deadline; past this the node itself is at fault
_LOG_BYTES = 1 << 20
_SHOWN_LINES = 100


@frozen
class Attended:
    """How an attended job ended: `exit`, or `trouble` (with `hint`) if a server or a deadline ended it."""

    exit: Exit | None
    trouble: str = ""
    hint: str = ""
    started: bool = True


def attend(run: RunContext, task: Task) -> Attended:
    """Start `task` on the head and wait for it, for any server's end, or for its deadline.

    When a server ends, the session is dead (`SessionRun.dead`). Raises `HostError` if a node cannot be asked any
    more, and `Interrupted`.
    """
    session, host = run.the_session, run.head.host
    if session.dead:
        return Attended(None, session.dead, started=False)
    run.journal.begin("job", name=task.name, node=run.head.name, argv=task.argv)
    host.start(job(run.head.inside, run.run_id, task))
    session.watch.follow(host, [task.name], task.deadline_s + 2 * _MARGIN_S)
    try:
        found = _await(run, task)
    except Interrupted:
        host.stop(task.name, 0 if run.interrupts.hurry else task.grace_s)
        raise
    if found.exit is None:
        host.stop(task.name, task.grace_s)
    ended = found.exit
    run.journal.end("job", name=task.name, code=ended.code if ended else None, trouble=found.trouble)
    return found


def _await(run: RunContext, task: Task) -> Attended:
    session, left = run.the_session, task.deadline_s + _MARGIN_S
    silence, often = Silence((session.job, task.name)), min(LOOK_S, run.options.idle_s or LOOK_S)
    while True:
        turn = min(left, often)
        event = session.watch.next(turn)
        if event is None:
            left -= turn
            if left <= 0:
                return _late(task)
            if 0 < run.options.idle_s <= silence.look(run, turn):
                return _silent(task, silence)
        elif isinstance(event, Broken):
            session.dead = f"{run.nodes[event.rank].name} could not be asked any more: {event.error.message}"
            raise event.error
        elif event.exit.name == task.name:
            return _by_itself(task, event.exit)
        elif event.exit.name == session.job:
            session.dead = _explain_death(run, event)
            own = run.head.host.wait([task.name], 0.0)
            if own is not None and own.code == 0:
                return Attended(own)  # both ended while nobody watched: it needed the server no more
            return Attended(None, session.dead, f"read {server_log(run, event.rank, 'err')} in the run's folder")


def _late(task: Task) -> Attended:
    text = f"{task.name} did not end within its {task.deadline_s} s"
    return Attended(None, text, "raise its budget in the config")


def _silent(task: Task, silence: Silence) -> Attended:
    text = f"neither {task.name} nor the server wrote a line for {silence.seconds:g} s, and no GPU worked"
    return Attended(None, text, "read their logs; --idle S changes the limit on silence")


def _by_itself(task: Task, ended: Exit) -> Attended:
    if ended.state == "deadline":
        return _late(task)
    if ended.state == "lost":
        text = f"{task.name} ended without a record: its supervisor on the node was killed"
        return Attended(None, text, "look for an out-of-memory kill in dmesg")
    return Attended(ended)


def _explain_death(run: RunContext, event: Ended) -> str:
    """Why a server ended, in one line; its last lines go to who watches."""
    node = run.nodes[event.rank]
    text = log_text(node, run.the_session.job)
    run.emit(
        Event(EventKind.NOTE, "log", "", tail(text, _SHOWN_LINES), {"node": node.name, "job": run.the_session.job})
    )
    cause = first_error(text)
    return f"the server of rank {event.rank} on {node.name} ended with {how_it_ended(event.exit)}" + (
        f": {cause}" if cause else ""
    )


def how_it_ended(ended: Exit) -> str:
    """`status 1`, `signal 9, cause unknown`: a signal says nothing of its sender."""
    if ended.state == "lost" or ended.code is None:
        return "its supervisor lost"
    return f"signal {ended.code - 128}, cause unknown" if ended.code > 128 else f"status {ended.code}"


def log_text(node: NodeRun, name: str) -> str:
    """The end of a job's standard output, then of its standard error; "" if it cannot be read."""
    parts = []
    for stream in ("out", "err"):
        try:
            parts.append(node.host.output(name, stream, -_LOG_BYTES, _LOG_BYTES).decode("utf-8", "replace"))
        except HostError:
            continue
    return "".join(parts)


def server_log(run: RunContext, rank: int, stream: str) -> str:
    """Where the log of a rank's server lies in the run's folder, once its session has ended."""
    return f"logs/{run.the_session.job}.rank-{rank}.{stream}.log"


def server_port(run: RunContext) -> int:
    """The port on which the head serves HTTP."""
    return int(fill(run.the_session.session.probe.port, run.bound(run.head)))
