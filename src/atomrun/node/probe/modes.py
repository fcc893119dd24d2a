"""`python3 probe.pyz MODE JSON`: one function a mode, from its JSON object to the answer."""

# ruff: noqa: UP006, UP035 - must run on Python 3.6
import json
import sys
import time
from typing import Any, Callable, Dict, List

from .cache import cached
from .functional import API_SMOKE, HEALTH_CHECK, run_checks
from .needle import run_needles
from .net import accept, connect
from .procs import Job, holders, is_ours, listening, members, stop
from .quality import fingerprint, run_mtp
from .ready import Target, climb
from .web import Server, Unreachable
from .weights import inspect

__all__ = ["MODES", "main"]

Order = Dict[str, Any]


def _server(order: Order) -> Server:
    return Server(order["host"], int(order["port"]), order["model"])


def _job(order: Order) -> Job:
    return Job(order["job"], order["record"])


def _ready(order: Order) -> Order:
    deadline = time.monotonic() + float(order["deadline_s"])
    job = _job(order)
    return climb(Target(_server(order), order["health_path"], lambda pid: is_ours(pid, job), deadline), say)


def _alive(order: Order) -> Order:
    """Whether the server answers at all: {"fault": ""} if it does."""
    try:
        _server(order).get(order["health_path"], float(order["seconds"]))
    except Unreachable as error:
        return {"fault": str(error)}
    return {"fault": ""}


def _free(order: Order) -> Order:
    """Who holds each port that is in use: {"8000": {"17": "python server.py"}}; {} for a holder not visible."""
    return {str(port): holders(int(port)) for port in order["ports"] if listening(int(port))}


def _gone(order: Order) -> Order:
    """What is left of a job and of its ports: both lists are empty when it is gone."""
    return {"pids": members(_job(order)), "ports": [port for port in order["ports"] if listening(int(port))]}


def _stop(order: Order) -> Order:
    grace = sys.stdin.readline().strip()  # the node may be in more of a hurry than the job
    return {"left": stop(_job(order), float(grace) if grace.isdigit() else float(order["grace_s"]))}


def _weights(order: Order) -> Order:
    return inspect(order["models_dir"], order["model"])


def _accept(order: Order) -> Order:
    return accept(order["address"], order["port"], order["count"], order["seconds"])


def _connect(order: Order) -> Order:
    return connect(order["address"], order["port"], order["seconds"])


def _functional(order: Order) -> Order:
    server, path = _server(order), order["health_path"]
    asked = (("api_smoke", API_SMOKE), ("health_check", HEALTH_CHECK))
    return {name: run_checks(server, path, checks) for name, checks in asked if order[name]}


def _needle(order: Order) -> Order:
    return run_needles(_server(order), order["isl"], order["osl"], order["num_prompts"], order["seed"])


def _mtp(order: Order) -> Order:
    return run_mtp(_server(order), order["prompt"])


def _fingerprint(order: Order) -> Order:
    return fingerprint(_server(order), order["prompt"])


def _cache(order: Order) -> Order:
    return cached(_server(order))


MODES: Dict[str, Callable[[Order], Order]] = {
    "ready": _ready,
    "alive": _alive,
    "free": _free,
    "gone": _gone,
    "stop": _stop,
    "weights": _weights,
    "accept": _accept,
    "connect": _connect,
    "functional": _functional,
    "needle": _needle,
    "mtp": _mtp,
    "fingerprint": _fingerprint,
    "cache": _cache,
}


def say(record: Order) -> None:
    """One line that the launcher reads."""
    sys.stdout.write("@@ATOMRUN " + json.dumps(record) + "\n")
    sys.stdout.flush()


def main(argv: List[str]) -> int:
    """Exit 0 with an answer, 1 if the server could not be asked at all."""
    mode, order = argv[0], json.loads(argv[1])
    try:
        say({"answer": MODES[mode](order)})
    except Unreachable as error:
        say({"error": str(error)})
        return 1
    return 0
