"""Containers of a node: what state one is in, and removing one of ours. Nothing is ever removed by name alone."""

from __future__ import annotations

from attrs import frozen

from atomcfg.plan import Container
from atomcfg.tokens import fill

from .context import NodeRun, RunContext
from .host import Completed
from .scripts import run_on_host, script

__all__ = ["Seen", "container_name", "look", "on_host_network", "remover"]

_LOOK_S = 60.0


@frozen
class Seen:
    """A container by name. `state`: absent, running, stopped, or unknown (`why` is what the runtime said)."""

    state: str
    id: str = ""
    owner: str = ""  # the label atomrun.owner; empty for one that is not ours
    run: str = ""
    image: str = ""
    why: str = ""


def container_name(run: RunContext, node: NodeRun, container: Container) -> str:
    return fill(container.name, run.bound(node))


def look(node: NodeRun, name: str) -> Seen:
    """What the runtime says about the container of this name."""
    done = run_on_host(node, "container_state", [name, *node.runtime], _LOOK_S)
    if done.code != 0:
        return Seen("unknown", why=last_line(done))
    text = done.out.decode("utf-8", "replace").strip()
    if text == "absent":
        return Seen("absent")
    parts = ["" if part == "<no value>" else part for part in text.split("|")]
    if len(parts) != 5:
        return Seen("unknown", why=f"unexpected answer: {text[:200]}")
    container, running, owner, owner_run, image = parts
    return Seen("running" if running == "true" else "stopped", container, owner, owner_run, image)


def remover(run: RunContext, node: NodeRun, name: str) -> tuple[str, ...]:
    """The command that removes the container of this name if its label says that it is this run's."""
    return ("sh", "-c", script("container_remove"), "container_remove", run.run_id, name, *node.runtime)


def on_host_network(container: Container) -> bool:
    """Whether ports in the container are ports of the host."""
    words = [fill(token, unknown=str) for token in container.run_argv]
    values = [value for word, value in zip(words, [*words[1:], ""], strict=True) if word in ("--network", "--net")]
    values += [word.partition("=")[2] for word in words if word.startswith(("--network=", "--net="))]
    return "host" in values


def last_line(done: Completed) -> str:
    """The last line a program said on standard error, else on standard output, else its exit status."""
    for stream in (done.err, done.out):
        lines = stream.decode("utf-8", "replace").strip().splitlines()
        if lines:
            return lines[-1].strip()
    return f"exit status {done.code}"
