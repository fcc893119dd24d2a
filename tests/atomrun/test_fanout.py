"""Side by side over nodes: every node asked has an answer or a failure."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from attrs import frozen

from atomrun.fanout import Answers, on_all
from atomrun.host import HostError
from atomrun.signals import Interrupted, Interrupts


@frozen
class N:
    rank: int


NODES = [N(0), N(1), N(2)]


def failing(rank: int, error: BaseException) -> Callable[[N], int]:
    def work(node: N) -> int:
        if node.rank == rank:
            raise error
        return node.rank * 10

    return work


def test_answers_are_by_rank() -> None:
    assert on_all(NODES, lambda node: node.rank * 10).all() == {0: 0, 1: 10, 2: 20}


def test_work_is_side_by_side() -> None:
    barrier = threading.Barrier(3, timeout=20)
    assert set(on_all(NODES, lambda node: barrier.wait() >= 0).all().values()) == {True}


def test_a_node_that_does_not_answer_is_a_failed_node() -> None:
    error = HostError("n1", "unreachable", "gone")
    answers = on_all(NODES, failing(1, error))
    assert (dict(answers.values), dict(answers.failures)) == ({0: 0, 2: 20}, {1: error})
    with pytest.raises(HostError, match="gone"):
        answers.all()


def test_nobody_asked_is_nobody_heard() -> None:
    assert on_all([], failing(0, KeyError())) == Answers({}, {})


def test_a_fault_of_ours_is_raised() -> None:
    with pytest.raises(KeyError):
        on_all(NODES, failing(2, KeyError("x")))


def test_a_rank_asked_twice_is_a_fault() -> None:
    with pytest.raises(AssertionError, match="heard of"):
        on_all([N(0), N(0)], lambda node: node.rank)


def test_a_signal_does_not_wait_for_nodes_that_hang() -> None:
    interrupts = Interrupts()
    hang = threading.Event()

    def work(node: N) -> int:
        if node.rank == 0:
            interrupts.interrupt()
        hang.wait(30)
        return 0

    with pytest.raises(Interrupted):
        on_all(NODES, work, interrupts)
    hang.set()


def test_a_signal_before_is_noticed() -> None:
    interrupts = Interrupts()
    interrupts.interrupt()
    with pytest.raises(Interrupted):
        on_all(NODES, lambda node: node.rank, interrupts)
    assert on_all(NODES, lambda node: node.rank).all() == {0: 0, 1: 1, 2: 2}, "ending work ignores it"
