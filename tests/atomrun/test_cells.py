"""What the corpus does not show: numbers from elsewhere, and cells that never finished."""

from __future__ import annotations

from tests.judging import artifact, make_attempt, make_cell, make_plan, make_spec

from atomrun.cells import incomplete_cell, judge_cell
from atomrun.results import CellState, Status

HEALTHY = artifact()
CELL = make_cell(make_spec("gpu.power_w", "info"), make_spec("failed", "max", 0))
PLAN = make_plan(CELL)


def test_a_valid_cell() -> None:
    result = judge_cell(PLAN, CELL, make_attempt(HEALTHY))
    assert (result.id, result.key, result.session, result.attempt) == (CELL.id, CELL.key, 0, 1)
    assert (result.state, result.reason, result.hint, result.seconds) == (CellState.VALID, "", "", 42.0)
    assert result.values["output_throughput"] == 3200
    assert result.values["output_tput_per_gpu"] == 400
    assert result.missing["goodput"] == "null in the artifact"
    assert [verdict.source for verdict in result.verdicts] == ["threshold.json:10", "threshold.json:11"]


def test_measurements_from_elsewhere_are_judged_with_the_clients() -> None:
    result = judge_cell(PLAN, CELL, make_attempt(HEALTHY, polled={"gpu.power_w": 5600.0}))
    assert [(verdict.status, verdict.actual) for verdict in result.verdicts] == [
        (Status.INFO, 5600.0),
        (Status.PASS, 0.0),
    ]
    broken = judge_cell(PLAN, CELL, make_attempt("", polled={"gpu.power_w": 5600.0}))
    assert broken.values == {"gpu.power_w": 5600.0}


def test_an_unreadable_artifact_is_the_reason_that_each_metric_is_missing() -> None:
    result = judge_cell(PLAN, CELL, make_attempt(HEALTHY[:100]))
    assert result.missing["failed"] == "the artifact breaks off after 100 characters"
    assert result.verdicts[1].reason == "the artifact breaks off after 100 characters"


def test_a_cell_that_never_finished() -> None:
    result = incomplete_cell(PLAN, CELL, "the server died", "read its log", attempt=2, seconds=7.5)
    assert (result.state, result.reason, result.hint) == (CellState.INCOMPLETE, "the server died", "read its log")
    assert (result.attempt, result.seconds, result.values, result.missing) == (2, 7.5, {}, {})
    assert [(verdict.status, verdict.source) for verdict in result.verdicts] == [
        (Status.INVALID, "threshold.json:10"),
        (Status.INVALID, "threshold.json:11"),
    ]
