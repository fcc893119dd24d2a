"""The readiness ladder: port, health, model, listener, completion. Time and process state decide, never a log."""

# ruff: noqa: UP006, UP035 - must run on Python 3.6
import time
from pathlib import Path
from typing import Any, Callable, Dict, NamedTuple, Tuple

from .procs import holders, listening
from .web import Server, Unreachable, text_of

__all__ = ["RUNGS", "Target", "climb"]

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.05, 0.5  # a look at a local port costs next to nothing
SHORT_S = 10.0


class Target(NamedTuple):
    server: Server
    health_path: str
    is_ours: Callable[[int], bool]  # whether a process belongs to our server
    deadline: float  # time.monotonic()

    def left(self) -> float:
        return max(0.1, self.deadline - time.monotonic())


class NotYet(Exception):
    """This rung does not hold now; it may later."""


class Never(Exception):
    """This rung cannot hold any more."""


def _port(target: Target) -> None:
    if not listening(target.server.port):
        raise NotYet(f"nothing listens on port {target.server.port}")


def _health(target: Target) -> None:
    status = target.server.get(target.health_path, min(SHORT_S, target.left())).status
    if status in (401, 403):
        raise Never(f"{target.health_path} answers {status}: the server is up but wants credentials")
    if status != 200:
        raise NotYet(f"{target.health_path} answers {status}")


def _model(target: Target) -> None:
    reply = target.server.get("/v1/models", min(SHORT_S, target.left()))
    document = reply.json() if reply.status == 200 else None
    if not isinstance(document, dict) or not isinstance(document.get("data"), list):
        raise NotYet(f"/v1/models answers {reply.status}: {reply.excerpt()}")
    served = [str(item.get("id")) for item in document["data"] if isinstance(item, dict)]
    if target.server.model not in served:
        names = ", ".join(served) or "nothing"
        raise Never(f"the server serves {names}, the plan wants {target.server.model}")


def _listener(target: Target) -> None:
    held_by = holders(target.server.port)
    if not any(map(target.is_ours, held_by)):
        who = "; ".join(f"pid {pid} ({command})" for pid, command in held_by.items()) or "not visible from here"
        raise Never(f"port {target.server.port} is served by a process that is not ours: {who}")


def _completion(target: Target) -> None:
    body = {"prompt": "Hello", "max_tokens": 2, "temperature": 0}
    reply = target.server.post("/v1/completions", body, target.left())
    if text_of(reply) is None:
        raise NotYet(f"a completion answers {reply.status}: {reply.excerpt()}")


RUNGS: Tuple[Tuple[str, Callable[[Target], None]], ...] = (
    ("port", _port),
    ("health", _health),
    ("model", _model),
    ("listener", _listener),
    ("completion", _completion),
)


def climb(target: Target, say: Callable[[Dict[str, Any]], None]) -> Dict[str, Any]:
    """Wait until every rung holds, with growing pauses.

    {"ready": bool, "rung": the one that does not hold, "reason", "final": it never will, "seconds", "uptime"}; each
    change of rung or reason is told to `say`.
    """
    began, pause, told = time.monotonic(), FIRST_PAUSE_S, ("", "")
    while True:
        rung, reason, final = _first_fault(target)
        seconds = round(time.monotonic() - began, 3)
        if not rung or final or time.monotonic() >= target.deadline:
            ended = {"ready": not rung, "rung": rung, "reason": reason, "final": final}
            return dict(ended, seconds=seconds, uptime=_uptime())
        if (rung, reason) != told:
            told = (rung, reason)
            say({"rung": rung, "reason": reason, "seconds": seconds})
        time.sleep(min(pause, target.left()))
        pause = min(LONGEST_PAUSE_S, pause * 1.2)


def _uptime() -> float:
    return float(Path("/proc/uptime").read_text().split()[0])


def _first_fault(target: Target) -> Tuple[str, str, bool]:
    for name, rung in RUNGS:
        try:
            rung(target)
        except (NotYet, Unreachable) as error:
            return name, str(error), False
        except Never as error:
            return name, str(error), True
    return "", "", False
