"""From the plan's argv to commands and jobs of a node, on its host or in its container.

In a container every program starts through `node/wrap.sh` under `docker exec -i`: the environment travels as
`-e`, secrets on standard input. `node/probe` stops what the wrapper recorded there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files

from attrs import field, frozen

from atomcfg.plan import EnvVar
from atomcfg.tokens import fill

from .host import JobSpec

__all__ = ["Place", "Task", "command", "environment", "job", "record_of"]

STOP_GRACE_S = 10


@frozen
class Place:
    """Where a node's programs run: its host OS, or a container there (`container` is then not empty)."""

    tools: str  # our directory there, 0700
    python: str = "python3"
    runtime: tuple[str, ...] = ()  # ("docker",) or ("sudo", "-n", "docker")
    container: str = ""

    @property
    def probe(self) -> tuple[str, ...]:
        """How the probe is called."""
        return (self.python, f"{self.tools}/probe.pyz")


@frozen
class Task:
    """A program of the plan, bound: what to start. `fresh` is a directory to make, that must not exist yet."""

    name: str
    argv: tuple[str, ...]
    deadline_s: int
    env: Mapping[str, str] = field(factory=dict)
    secrets: tuple[tuple[str, str], ...] = ()  # (environment name, secret name)
    fresh: str = ""
    grace_s: int = STOP_GRACE_S


def environment(
    entries: Iterable[EnvVar], values: Mapping[str, str], known: Iterable[str]
) -> tuple[dict[str, str], tuple[tuple[str, str], ...]]:
    """The plan's environment as plain values and as secrets. A secret that is not `known` (its file was absent,
    and it is not required) is left out."""
    plain: dict[str, str] = {}
    secret: list[tuple[str, str]] = []
    available = frozenset(known)
    for entry in entries:
        if entry.secret is None:
            plain[entry.name] = fill(entry.value or "", values)
        elif entry.secret in available:
            secret.append((entry.name, entry.secret))
    return plain, tuple(secret)


def command(place: Place, argv: Sequence[str], env: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The argv on the host of a short command; its standard input reaches the program."""
    settings = [f"{name}={value}" for name, value in (env or {}).items()]
    if not place.container:
        return ("env", *settings, *argv) if settings else tuple(argv)
    flags = [word for setting in settings for word in ("-e", setting)]
    return (*place.runtime, "exec", "-i", *flags, place.container, *argv)


def job(place: Place, run_id: str, task: Task) -> JobSpec:
    """The job that runs `task` under the node's supervisor."""
    wrapped = ("sh", "-c", _wrapper(), "atomrun", record_of(place, task.name), task.fresh, *task.argv)
    if not place.container:
        return JobSpec(task.name, wrapped, task.deadline_s, task.env, task.secrets, (), task.grace_s)
    cookie = f"{run_id}/{task.name}"
    return JobSpec(
        name=task.name,
        argv=command(place, wrapped, {**task.env, "ATOMRUN_JOB": cookie}),
        deadline_s=task.deadline_s,
        secret_input=task.secrets,
        stop_argv=command(place, (*place.probe, "stop", json.dumps(_stop_order(place, cookie, task)))),
        stop_grace_s=task.grace_s,
    )


def record_of(place: Place, name: str) -> str:
    """The file in which the wrapper records a job's process."""
    return f"{place.tools}/jobs/{name}"


def _stop_order(place: Place, cookie: str, task: Task) -> Mapping[str, str | int]:
    return {"job": cookie, "record": record_of(place, task.name), "grace_s": task.grace_s}


@cache
def _wrapper() -> str:
    return files("atomrun").joinpath("node/wrap.sh").read_text("utf-8")
