"""Signals: count, wake, give up."""

from __future__ import annotations

import os
import signal
from queue import SimpleQueue

import pytest

from atomrun.signals import Interrupted, Interrupts


def test_the_first_asks_the_second_hurries_the_third_gives_up() -> None:
    given_up: list[bool] = []
    interrupts = Interrupts(lambda: given_up.append(True))
    interrupts.check()
    interrupts.interrupt()
    with pytest.raises(Interrupted):
        interrupts.check()
    assert not interrupts.hurry
    interrupts.interrupt()
    assert interrupts.hurry
    assert given_up == []
    interrupts.interrupt()
    assert given_up == [True]


def test_listeners_are_woken_while_they_listen() -> None:
    interrupts = Interrupts()
    queue: SimpleQueue[object] = SimpleQueue()
    with interrupts.wake(queue):
        interrupts.interrupt()
    interrupts.interrupt()
    assert queue.get() is interrupts
    assert queue.empty()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_handlers_are_there_while_installed(number: signal.Signals) -> None:
    interrupts = Interrupts()
    before = signal.getsignal(number)
    with interrupts.installed():
        os.kill(os.getpid(), number)
    assert interrupts.count == 1
    assert signal.getsignal(number) is before
