"""Waits until the session's server can serve: one blocking question, while every rank's process is watched."""

from __future__ import annotations

from atomrun.asking import Unanswered, ask_server
from atomrun.context import RunContext
from atomrun.outcomes import done, failed
from atomrun.results import StageResult

__all__ = ["ready"]

_MARGIN_S = 60


def ready(run: RunContext) -> StageResult:
    """Ready is: the port is open, health, our model, our process, one real completion (`node/probe/ready.py`)."""
    session = run.the_session
    deadline = session.session.ready_deadline_s
    try:
        answer = ask_server(run, "ready", "ready", {"deadline_s": deadline}, deadline + _MARGIN_S)
    except Unanswered as error:
        session.dead = session.dead or error.reason
        return failed("ready", error.reason, error.hint or "read the server's log", node=run.head.name)
    if answer["ready"]:
        session.served = True
        session.ready_s, session.ready_uptime = float(answer["seconds"]), float(answer["uptime"])
        run.record.facts[f"ready_s session {session.session.index}"] = f"{answer['seconds']:.1f}"
        return done("ready", f"after {answer['seconds']:.1f} s")
    waited = "" if answer["final"] else f" after {deadline} s"
    session.dead = f"the server is not ready{waited}: {answer['reason']} ({answer['rung']})"
    hint = (
        "read the server's log" if answer["final"] else "read the server's log, or raise its budget (server_poll_*)"
    )
    return failed("ready", session.dead, hint, node=run.head.name)
