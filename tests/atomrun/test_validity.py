"""Every rule fires on what it is for, and lies still next to it. The corpus fires them from whole artifacts."""

from __future__ import annotations

from typing import Any

import pytest
from tests.judging import make_cell

from atomrun.artifacts import ArtifactError, Fault
from atomrun.results import Reading
from atomrun.validity import RULES, Evidence, check, unreadable

GOOD = {
    "max_concurrency": 16,
    "completed": 80,
    "failed": 0,
    "duration": 22.5,
    "total_input_tokens": 73600,
    "total_output_tokens": 72000,
}
ECHO = {"date": "20260501-120500", "num_prompts": "80"}


def evidence(
    echo: dict[str, str] | None = None,
    client_exit: int = 0,
    began: str = "20260501-120000",
    allowed_failures: int = 0,
    **values: float | None,
) -> Evidence:
    found = {name: value for name, value in {**GOOD, **values}.items() if value is not None}
    reading = Reading("atom", found, echo={**ECHO, **(echo or {})})
    cell = make_cell(allowed_failures=allowed_failures)
    return Evidence(cell, reading, found, client_exit, began, "org/model")


# What breaks each rule, by its name; everything else of the evidence is in order.
BREAKS: dict[str, tuple[dict[str, Any], str]] = {
    "client_exit": ({"client_exit": 3}, "the client ended with status 3"),
    "this_attempt": (
        {"echo": {"date": "20260501-115959"}},
        "the artifact is of 20260501-115959, before this attempt began (20260501-120000)",
    ),
    "same_request": ({"echo": {"num_prompts": "919"}}, "the artifact is of 919 prompts, the plan asks for 80"),
    "same_model": (
        {"echo": {"model_id": "org/other"}},
        "the artifact is of model org/other, the plan's is org/model",
    ),
    "concurrency": ({"max_concurrency": 4}, "the artifact states concurrency 4, the plan 16"),
    "accounted": ({"completed": 79}, "79 completed + 0 failed are not the 80 prompts of the plan"),
    "failures": (
        {"completed": 78, "failed": 2, "allowed_failures": 1},
        "2 requests failed of 80; 1 may (bench_max_failed_requests)",
    ),
    "worked": ({"duration": 0}, "nothing measured: duration not above 0"),
    "input_length": (
        {"total_input_tokens": 80 * 2048},
        "requests had 2048.0 input tokens on average, the plan asks for 819 to 1024",
    ),
}


def test_good_evidence_has_no_flaw() -> None:
    assert check(evidence()) == ()


@pytest.mark.parametrize("name", BREAKS)
def test_each_rule_fires_alone(name: str) -> None:
    changes, reason = BREAKS[name]
    flaws = check(evidence(**changes))
    assert [(flaw.rule, flaw.reason) for flaw in flaws] == [(name, reason)]
    assert flaws[0].hint


@pytest.mark.parametrize("name", ["org/model", "/models/model", "/somewhere/else/model/", ""])
def test_a_model_may_lie_anywhere(name: str) -> None:
    assert check(evidence({"model_id": name})) == ()


def test_every_rule_has_what_breaks_it() -> None:
    assert [rule.__name__ for rule in RULES] == [f"_{name}" for name in BREAKS]


@pytest.mark.parametrize("name", BREAKS)
def test_no_other_rule_catches_its_fault(name: str) -> None:
    """Each rule is needed: without it, what it is for would be valid."""
    broken = evidence(**BREAKS[name][0])
    assert [rule(broken) for rule in RULES if rule.__name__ != f"_{name}"] == [None] * (len(RULES) - 1)


@pytest.mark.parametrize(
    ("code", "ending"),
    [
        (1, "status 1"),
        (128, "status 128"),
        (129, "signal 1, cause unknown"),
        (137, "signal 9, cause unknown"),
    ],
)
def test_a_signal_is_no_diagnosis(code: int, ending: str) -> None:
    assert check(evidence(client_exit=code))[0].reason == f"the client ended with {ending}"


@pytest.mark.parametrize(("mean", "fits"), [(798, False), (799, True), (1048, True), (1049, False)])
def test_the_slack_of_the_input_length(mean: int, fits: bool) -> None:
    assert (check(evidence(total_input_tokens=80 * mean)) == ()) is fits


@pytest.mark.parametrize(
    "changes",
    [
        {"echo": {"date": "20260501-120000"}},
        {"echo": {"date": ""}},
        {"began": ""},
        {"echo": {"num_prompts": "eighty"}},
        {"echo": {"dataset": "sharegpt", "input_len": "512"}},
        {"echo": {"dataset": "random", "input_len": "1024", "output_len": "1024"}},
        {"completed": 77, "failed": 3, "allowed_failures": 3},
    ],
    ids=str,
)
def test_what_is_in_order_is_left_alone(changes: dict[str, Any]) -> None:
    assert check(evidence(**changes)) == ()


@pytest.mark.parametrize(
    ("changes", "rules"),
    [
        ({"max_concurrency": None}, ["concurrency"]),
        ({"completed": None}, ["accounted"]),
        ({"failed": None}, ["accounted", "failures"]),
        ({"duration": None}, ["worked"]),
        ({"total_input_tokens": None}, ["worked"]),
        ({"total_output_tokens": 0}, ["worked"]),
        ({"completed": 0, "failed": 80, "total_input_tokens": 0}, ["failures", "worked"]),
        ({"echo": {"dataset": "random", "output_len": "8"}}, ["same_request"]),
        ({"total_input_tokens": 80 * 700}, ["input_length"]),
    ],
    ids=str,
)
def test_absence_is_a_flaw(changes: dict[str, Any], rules: list[str]) -> None:
    assert [flaw.rule for flaw in check(evidence(**changes))] == rules


def test_the_exit_status_comes_first() -> None:
    flaws = check(evidence(client_exit=1, completed=79))
    assert [flaw.rule for flaw in flaws] == ["client_exit", "accounted"]


def test_an_unreadable_artifact() -> None:
    error = ArtifactError(Fault.TRUNCATED, "it breaks off", "run it again")
    assert [(flaw.rule, flaw.reason, flaw.hint) for flaw in unreadable(error, 0)] == [
        ("artifact_truncated", "it breaks off", "run it again")
    ]
    assert [flaw.rule for flaw in unreadable(error, 2)] == ["client_exit", "artifact_truncated"]
