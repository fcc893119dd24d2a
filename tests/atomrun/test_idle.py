"""Silence: a limit of its own beside the budgets."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from atomrun.attend import attend
from atomrun.context import NodeRun, Options, RunContext
from atomrun.host import Completed, HostError
from atomrun.idle import Silence
from atomrun.jobs import Place, Task

from .runs import Fleet, LiveHost, container_plan, healthy_host, host_script, with_ranks

FleetOf = Callable[..., Fleet]


def telling(*looks: str) -> LiveHost:
    """A node whose activity at each look is one of these, the last for ever."""
    host, said = healthy_host(), iter(looks)
    last = looks[-1]

    def look(_argv: tuple[str, ...], _stdin: bytes) -> Completed:
        return Completed(0, next(said, last).encode())

    host.on(*host_script("activity"), then=look)
    return host


def looked(run: RunContext, times: int) -> Iterator[float]:
    silence = Silence(("server-0.1", "cell-0.1"))
    for _ in range(times):
        yield silence.look(run, 60.0)


def opened(fleet: Fleet) -> RunContext:
    def launched(node: NodeRun) -> None:
        node.connection, node.root, node.place = node.connect(), "/r", Place("/t")

    for node in fleet.run.nodes:
        launched(node)
    run = fleet.opened()
    run.the_session.started = True
    return run


@pytest.mark.parametrize(
    ("looks", "silent"),
    [
        (("bytes 10\n",), [0.0, 60.0, 120.0]),
        (("bytes 10\n", "bytes 10\n", "bytes 11\n"), [0.0, 60.0, 0.0]),
        (("bytes 10\n", "bytes 10\nbusy 3\n"), [0.0, 0.0, 0.0]),
        (("bytes 10\nbusy 0\n",), [0.0, 60.0, 120.0]),
    ],
)
def test_a_log_that_grows_or_a_gpu_that_works_is_no_silence(
    fleet_of: FleetOf, looks: tuple[str, ...], silent: list[float]
) -> None:
    run = opened(fleet_of(container_plan(), telling(*looks)))
    assert list(looked(run, len(silent))) == silent


def test_one_busy_node_is_enough_and_one_that_does_not_tell_is_not_silent(fleet_of: FleetOf) -> None:
    quiet, busy = telling("bytes 5\n"), telling("bytes 5\nbusy 90\n")
    assert list(looked(opened(fleet_of(with_ranks(container_plan(), 2), quiet, busy)), 2)) == [0.0, 0.0]
    mute = telling("bytes 5\n")
    mute.on(*host_script("activity"), then=HostError("n1", "timeout", "no answer"))
    assert list(looked(opened(fleet_of(with_ranks(container_plan(), 2), telling("bytes 5\n"), mute)), 2)) == [
        0.0,
        0.0,
    ]


@pytest.mark.parametrize(
    ("idle_s", "deadline_s", "reason"), [(0.01, 100, "wrote a line for 0.01 s"), (0.0, -60, "did not end within")]
)
def test_a_silent_client_is_ended_and_the_limit_that_fired_is_named(
    fleet_of: FleetOf, idle_s: float, deadline_s: int, reason: str
) -> None:
    host = telling("bytes 0\n")
    run = opened(fleet_of(container_plan(), host, options=Options(idle_s=idle_s)))
    found = attend(run, Task("client", ("client",), deadline_s))
    assert found.exit is None
    assert reason in found.trouble
    assert host.jobs["client"].ended is not None, "it was stopped"
