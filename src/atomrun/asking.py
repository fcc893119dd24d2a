"""Questions to the server, and about it: the probe, run where the programs run."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .attend import attend, server_port
from .context import NodeRun, RunContext
from .firsterror import first_error
from .host import HostError
from .jobs import Task, command, record_of

__all__ = ["Unanswered", "answers_in", "ask_server", "look_around", "server_order"]

_MARK = "@@ATOMRUN "
_SHORT_S = 60.0
_ANSWER_BYTES = 4 << 20

Order = Mapping[str, Any]  # JSON


class Unanswered(Exception):
    """The probe gave no answer; `hint` names the next thing to try."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.reason, self.hint = reason, hint


def server_order(run: RunContext) -> dict[str, Any]:
    """What every question to the server of the open session begins with."""
    session = run.the_session
    return {
        "host": "127.0.0.1",
        "port": server_port(run),
        "model": run.placed(session.session.probe.model_id),
        "health_path": session.session.probe.health_path,
        "job": f"{run.run_id}/{session.job}",
        "record": record_of(run.head.inside, session.job),
    }


def ask_server(run: RunContext, name: str, mode: str, extra: Order, deadline_s: int) -> Order:
    """Run the probe as a job on the head, servers watched; its answer. Raises `Unanswered`, `HostError`."""
    order = json.dumps({**server_order(run), **extra})
    job = f"{name}-{run.the_session.session.index}.{run.the_session.generation}"
    found = attend(run, Task(job, (*run.head.inside.probe, mode, order), deadline_s))
    if found.exit is None:
        raise Unanswered(found.trouble, found.hint)
    out = run.head.host.output(job, "out", 0, _ANSWER_BYTES)
    return _answer(out, lambda: run.head.host.output(job, "err", 0, _ANSWER_BYTES))


def look_around(node: NodeRun, mode: str, order: Order) -> Order:
    """Run the probe as a short command on a node: questions about processes and ports, not to the server."""
    done = node.host.run(command(node.inside, (*node.inside.probe, mode, json.dumps(order))), timeout=_SHORT_S)
    try:
        return _answer(done.out, lambda: done.err)
    except Unanswered as error:
        raise HostError(node.name, "tool", f"the probe failed: {error.reason}", error.hint) from None


def answers_in(out: bytes) -> Sequence[Order]:
    """The probe's lines in a job's output; anything else there is noise."""
    lines = out.decode("utf-8", "replace").splitlines()
    return [json.loads(line.removeprefix(_MARK)) for line in lines if line.startswith(_MARK)]


def _answer(out: bytes, err: Callable[[], bytes]) -> Order:
    said = answers_in(out)
    if said and "answer" in said[-1]:
        answer: Order = said[-1]["answer"]
        return answer
    if said and "error" in said[-1]:
        raise Unanswered(f"the server gave no answer: {said[-1]['error']}", "read the server's log")
    text = err().decode("utf-8", "replace")
    reason = first_error(text) or (text.strip().splitlines() or ["no output"])[-1]
    raise Unanswered(f"the probe did not run: {reason}", "the image needs Python 3.6 or later")
