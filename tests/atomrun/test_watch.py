"""Waiting for the first of several jobs on several nodes."""

from __future__ import annotations

import threading

import pytest

from atomrun.host import HostError, JobSpec
from atomrun.signals import Interrupted, Interrupts
from atomrun.watch import Broken, Ended, Watch

from .runs import LiveHost


def hosts() -> tuple[LiveHost, LiveHost]:
    pair = LiveHost(rank=0), LiveHost(rank=1)
    for host in pair:
        host.start(JobSpec("server", ("server",), 60))
    return pair


def test_the_first_to_end_is_told_whichever_node_it_is_on() -> None:
    first, second = hosts()
    watch = Watch(Interrupts())
    for host in (first, second):
        watch.follow(host, ["server"], 60.0)
    second.end("server", 9)
    told = watch.next(60.0)
    assert isinstance(told, Ended)
    assert (told.rank, told.exit.code) == (1, 9)
    first.end("server", 0)
    told = watch.next(60.0)
    assert isinstance(told, Ended)
    assert told.rank == 0


def test_nothing_ends_in_time() -> None:
    watch = Watch(Interrupts())
    assert watch.next(0.0) is None
    host, _ = hosts()
    host.end("server", 0)
    watch.follow(host, ["server"], 0.0)
    assert isinstance(watch.next(60.0), Ended)


def test_a_wait_that_times_out_tells_nothing() -> None:
    host, _ = hosts()
    watch = Watch(Interrupts())
    watch.follow(host, ["server"], 0.0)
    assert watch.next(0.05) is None


def test_a_node_that_breaks_is_told() -> None:
    host, _ = hosts()
    error = HostError("n", "lease", "the lease ran out")
    host.fail("wait", error)
    host.end("server", 0)
    watch = Watch(Interrupts())
    watch.follow(host, ["server"], 60.0)
    assert watch.next(60.0) == Broken(0, error)


def test_a_signal_wakes_who_waits() -> None:
    interrupts = Interrupts()
    watch = Watch(interrupts)
    threading.Timer(0.01, interrupts.interrupt).start()
    with pytest.raises(Interrupted):
        watch.next(60.0)
