"""Promise 1: nothing survives, however and whenever the launcher ends."""

from __future__ import annotations

import itertools
import os
import random
import signal
import time
from collections.abc import Callable

import pytest

from .checks import assert_clean, remains
from .desk import PHASES, Desk, Running

FULL = os.environ.get("HYPOTHESIS_PROFILE") == "full"
pytestmark = [
    pytest.mark.usefixtures("tidy"),
    pytest.mark.skipif(not FULL, reason="part of make test-full: minutes of faults"),
]
LEASE_S = 8
GRACE_S = 10  # that a stubborn server gets from a lease that ran out
# The node is clean this long after the end of the launcher. A lease runs out only after its last renewal.
AT_ONCE_S, BY_LEASE_S = 2.0, LEASE_S + GRACE_S + 8.0

WAYS: dict[str, tuple[Callable[[Running], None], tuple[int, ...], float]] = {
    "ctrl-c": (lambda run: run.signal(signal.SIGINT), (130,), AT_ONCE_S),
    "ctrl-c twice": (lambda run: run.signal(signal.SIGINT, 2), (130,), AT_ONCE_S),
    "ctrl-c three times": (lambda run: run.signal(signal.SIGINT, 3), (130,), BY_LEASE_S),
    "term": (lambda run: run.signal(signal.SIGTERM), (130,), AT_ONCE_S),
    "hup": (lambda run: run.signal(signal.SIGHUP), (130,), AT_ONCE_S),
    "terminal closed": (lambda run: run.hang_up(), (130,), AT_ONCE_S),
    "kill": (lambda run: run.signal(signal.SIGKILL), (-9,), BY_LEASE_S),
}
MATRIX = list(itertools.product(WAYS, PHASES))
CHOSEN = MATRIX if FULL else [("terminal closed", "bench"), ("kill", "bench"), *random.Random(1).sample(MATRIX, 2)]
STUBBORN = (
    "roles.server.env.STANDIN_FAULT_ESCAPE=1",
    "roles.server.env.STANDIN_FAULT_IGNORE_TERM=1",
    "roles.server.env.STANDIN_SPEED=1",
    'sweep.runs=[{"combo":"chat","concurrency":8}]',
)


@pytest.mark.parametrize(("way", "phase"), CHOSEN)
def test_nothing_survives(desk: Desk, way: str, phase: str, noted: Callable[..., None]) -> None:
    do, codes, limit = WAYS[way]
    speed = ("roles.server.env.STANDIN_SPEED=50",) if phase in ("collect", "teardown") else ()
    plan = desk.plan(*STUBBORN, *speed)
    with desk.running(plan, "--lease", str(LEASE_S), terminal=way == "terminal closed") as run:
        run.until(*PHASES[phase])
        began = time.monotonic()
        do(run)
        code = run.end()
        ended = time.monotonic()
        assert_clean(desk.cluster.nodes[0], within=limit)
        noted(launcher=round(ended - began, 2), clean=round(time.monotonic() - began, 2))
        assert code in (*codes, 0) if phase == "teardown" else code in codes, run.said
    assert not remains(desk.cluster.nodes[0])
