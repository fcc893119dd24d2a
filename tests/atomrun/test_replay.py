"""What a journal says of earlier launches, and what no journal may say."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atomrun.journal import JournalError
from atomrun.replay import replay

LAUNCH = {
    "event": "run", "id": "r", "digest": "d", "transport": "ssh", "began": "2026-05-01T12:00:00+00:00",
    "options": {}, "leave_out": {},
}  # fmt: skip


def records(*events: dict[str, Any]) -> Iterator[dict[str, Any]]:
    numbers = count(1)
    for event in (LAUNCH, *events):
        number = next(numbers)
        yield {"n": number, "t": number, **event}


def begin(step: str, **more: Any) -> dict[str, Any]:
    return {"event": "begin", "step": step, **more}


def end(step: str, status: str = "ok", **more: Any) -> dict[str, Any]:
    return {"event": "end", "step": step, "status": status, **more}


SERVER = begin("server", name="server-0.1"), end("ready", session=0)


def test_a_server_that_was_ready_is_open() -> None:
    past = replay(records(*SERVER, begin("job", name="cell-1.2")))
    assert (past.open, past.generations, past.attempts) == (frozenset({0}), {0: 1}, {1: 2})
    assert past.jobs == ("server-0.1", "cell-1.2")


@pytest.mark.parametrize(
    "after",
    [
        [end("ready", "failed", session=0)],
        [begin("stop", session=0)],
        [end("server", name="server-0.1")],
        [end("teardown")],
    ],
)
def test_a_server_that_was_given_up_is_not(after: list[dict[str, Any]]) -> None:
    assert replay(records(*SERVER, *after)).open == frozenset()


def test_finished_cells_are_those_that_were_judged_last() -> None:
    def cell(name: str, state: str, attempt: int) -> dict[str, Any]:
        return {"event": "cell", "id": name, "state": state, "attempt": attempt}

    past = replay(records(cell("a", "valid", 1), cell("b", "incomplete", 1), cell("a", "invalid", 2)))
    assert (past.cells, past.judged) == ({"a": 2}, frozenset({"a", "b"}))


def test_a_verdict_counts_when_its_report_was_written() -> None:
    verdict = {"event": "verdict", "verdict": "PASS"}
    assert replay(records(verdict)).verdict == ""
    assert replay(records(verdict, end("report"))).verdict == "PASS"
    assert replay(records(verdict, end("report"), LAUNCH)).verdict == ""


@pytest.mark.parametrize(
    "forged",
    [
        {"event": "run", **LAUNCH, "digest": "another"},
        {"event": "cell", "id": ["a"], "state": "valid", "attempt": 1},
        {"event": "cell", "id": "a", "state": "valid", "attempt": -1},
        {"event": "cell", "id": "a", "state": "valid", "attempt": True},
        {"event": "block", "result": {"block": "x"}},
        {"event": "node", "rank": 0, "known": {"image": 1}},
        {"event": "mapped", "values": ["/"]},
        {"event": "begin", "step": 1},
        {"event": "begin", "step": "job", "name": None},
        {"t": "late", "event": "note"},
    ],
)
def test_what_no_run_writes_is_refused(forged: dict[str, Any]) -> None:
    with pytest.raises(JournalError):
        replay(records(forged))


def test_without_a_launch_there_is_nothing() -> None:
    with pytest.raises(JournalError, match="no launch"):
        replay([])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
WORDS = (
    "event",
    "step",
    "name",
    "id",
    "attempt",
    "state",
    "status",
    "session",
    "rank",
    "known",
    "values",
    "result",
)


@given(st.lists(st.dictionaries(st.sampled_from(WORDS), JSON | st.sampled_from(["run", "begin", "end", "cell"]))))
def test_no_journal_ends_in_a_traceback(events: list[dict[str, Any]]) -> None:
    try:
        replay(records(*events))
    except JournalError:
        return
