"""Work on several nodes at the same time. The answers are exactly those of the nodes that were asked: one that
does not answer is a failed node, never a missing one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import Generic, Protocol, TypeVar

from attrs import frozen

from .host import HostError
from .signals import Interrupts

__all__ = ["Answers", "on_all"]

T = TypeVar("T")


class Ranked(Protocol):
    @property
    def rank(self) -> int: ...


N = TypeVar("N", bound=Ranked)


@frozen
class Answers(Generic[T]):
    """By rank: what each node answered, or why it could not be asked."""

    values: Mapping[int, T]
    failures: Mapping[int, HostError]

    def all(self) -> Mapping[int, T]:
        """The answers of all nodes; raises the failure of the lowest rank if there is one."""
        for rank in sorted(self.failures):
            raise self.failures[rank]
        return self.values


def on_all(
    nodes: Sequence[N],
    work: Callable[[N], T],
    interrupts: Interrupts | None = None,
    hasten: Callable[[N], object] | None = None,
) -> Answers[T]:
    """`work` on every node, side by side.

    `HostError` counts as that node's failure; anything else is a fault of ours and is raised. With `interrupts`,
    a signal raises `Interrupted` at once; the abandoned calls end by their own deadlines, in daemon threads. With
    `hasten` too, work goes on, and a signal that leaves no grace calls `hasten` for every node, once.
    """
    done: SimpleQueue[object] = SimpleQueue()
    outcomes: dict[int, T | BaseException] = {}

    def ask(node: N) -> None:
        try:
            outcome: T | BaseException = work(node)
        except BaseException as error:  # noqa: BLE001 - carried over to the thread that waits
            outcome = error
        outcomes[node.rank] = outcome
        done.put(node.rank)

    for node in nodes:
        threading.Thread(target=ask, args=(node,), daemon=True, name=f"node-{node.rank}").start()
    if interrupts is None:
        _await(done, len(nodes))
    elif hasten is None:
        with interrupts.wake(done):
            _await(done, len(nodes), interrupts)
    else:
        with interrupts.wake(done):
            _await_patiently(done, len(nodes), interrupts, lambda: _start_all(nodes, hasten))
    return _sorted_out([node.rank for node in nodes], outcomes)


def _await(done: SimpleQueue[object], count: int, interrupts: Interrupts | None = None) -> None:
    while count:
        if interrupts is not None:
            interrupts.check()
        if isinstance(done.get(), int):
            count -= 1


def _await_patiently(
    done: SimpleQueue[object], count: int, interrupts: Interrupts, hasten: Callable[[], None]
) -> None:
    hastened = interrupts.hurry  # then the work itself was begun without grace
    while count:
        if isinstance(done.get(), int):
            count -= 1
        elif interrupts.hurry and not hastened:
            hastened = True
            hasten()


def _start_all(nodes: Sequence[N], work: Callable[[N], object]) -> None:
    """Side by side, without waiting. Failures are of no interest: the work that is hastened has the same."""

    def quietly(node: N) -> None:
        with suppress(HostError):
            work(node)

    for node in nodes:
        threading.Thread(target=quietly, args=(node,), daemon=True, name=f"hasten-{node.rank}").start()


def _sorted_out(asked: Sequence[int], outcomes: Mapping[int, T | BaseException]) -> Answers[T]:
    if sorted(outcomes) != sorted(asked):
        raise AssertionError(f"asked nodes {sorted(asked)}, heard of {sorted(outcomes)}")
    values: dict[int, T] = {}
    failures: dict[int, HostError] = {}
    for rank in asked:
        outcome = outcomes[rank]
        if isinstance(outcome, HostError):
            failures[rank] = outcome
        elif isinstance(outcome, BaseException):
            raise outcome
        else:
            values[rank] = outcome
    return Answers(values, failures)
