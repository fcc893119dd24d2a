from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import jsonschema_rs
import pytest
from attrs import evolve
from tests.judging import make_result, mixed_plan

from atomcfg.plan import Container
from atomrun.comparison import (
    Panel,
    PanelStatus,
    Refusal,
    Sheet,
    SheetError,
    accuracy_prev_run,
    compare,
    framework_parity,
    load_sheet,
    prev_run,
    sheet_of,
)
from atomrun.report.document import document
from atomrun.results import BlockResult

SCHEMA = Path(__file__).resolve().parents[3] / "schemas" / "report.schema.json"
PLAN = mixed_plan(container=Container("docker", "rocm/atom:1", "c", "per_run", (), (), ()))
SCORES = {
    "gsm8k.exact_match__strict-match": 0.90,
    "gsm8k.exact_match__flexible-extract": 0.95,
    "gsm8k.exact_match_stderr__flexible-extract": 0.01,
    "aime.exact_match__none": 0.5,
}
FACTS = {
    "image 10.0.0.1": "sha256:01", "image 10.0.0.2": "sha256:01", "gpu_arch 10.0.0.1": "gfx942",
    "rocm 10.0.0.1": "7.0.2", "gpu_driver 10.0.0.1": "6.14.5",
}  # fmt: skip
ACCURACY = BlockResult("accuracy", "gsm8k", "ok", "", 9.0, SCORES, (), ())
OURS = sheet_of(make_result(PLAN, blocks=(ACCURACY,), facts=FACTS), PLAN)


def other(**changes: object) -> Sheet:
    return evolve(OURS, **{"run_id": "run-0", **changes})


def scaled(sheet: Sheet, factor: float) -> Sheet:
    """The same sheet with every measurement of its cells multiplied."""
    cells = tuple(
        evolve(cell, values={name: factor * value for name, value in cell.values.items()}) for cell in sheet.cells
    )
    return evolve(sheet, cells=cells)


PANELS: dict[str, Callable[[Sheet, Sheet | str | None, str], Panel]] = {
    "prev_run": prev_run,
    "accuracy_prev_run": accuracy_prev_run,
    "framework_parity": framework_parity,
}


def test_a_sheet_is_the_run_as_it_was() -> None:
    assert (OURS.arch, OURS.gpus, OURS.model, OURS.driver) == ("gfx942", 8, "org/model", "atom")
    assert (OURS.image, OURS.image_digests) == ("rocm/atom:1", ("sha256:01",))
    assert OURS.versions == {"rocm": "7.0.2", "gpu_driver": "6.14.5"}
    assert [cell.state for cell in OURS.cells] == ["valid", "valid", "valid", "invalid", "incomplete"]
    assert OURS.cells[3].values == {}
    assert OURS.accuracy == SCORES


def test_without_what_the_nodes_say_the_plan_speaks() -> None:
    plan = mixed_plan()
    sheet = sheet_of(make_result(plan, facts={}), plan)
    assert (sheet.arch, sheet.image, sheet.image_digests, sheet.versions) == ("mi3xx", "", (), {})


def test_scores_of_an_invalid_task_and_numbers_that_are_none_are_left_out() -> None:
    blocks = (evolve(ACCURACY, status="invalid"), evolve(ACCURACY, values={"a.b__c": math.nan, "a.b__d": 1.0}))
    assert sheet_of(make_result(PLAN, blocks=blocks), PLAN).accuracy == {"a.b__d": 1.0}


def test_a_report_is_read_back_and_fits_its_schema() -> None:
    panels = [
        prev_run(OURS, scaled(other(), 0.9), "old.json"),
        accuracy_prev_run(OURS, None, ""),
        framework_parity(OURS, "cannot read x", "x"),
    ]
    text = document(OURS, panels)
    assert load_sheet(text) == OURS
    jsonschema_rs.validator_for(json.loads(SCHEMA.read_text())).validate(json.loads(text))
    found = json.loads(text)["panels"]
    assert {name: panel["status"] for name, panel in found.items()} == {
        "prev_run": "shown", "accuracy_prev_run": "absent", "framework_parity": "refused",
    }  # fmt: skip
    assert found["prev_run"]["other"]["run_id"] == "run-0"
    assert found["prev_run"]["rows"][0]["delta_pct"] == pytest.approx(11.11, abs=0.01)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "not JSON"),
        ("[]", "report_version is None"),
        ('{"report_version": 2}', "report_version is 2, not 1"),
        ('{"report_version": 1}', "run_id"),
    ],
)
def test_what_is_no_report_says_why(text: str, why: str) -> None:
    with pytest.raises(SheetError, match=why):
        load_sheet(text)


def test_throughput_per_cell_against_the_previous_run() -> None:
    panel = prev_run(OURS, scaled(other(), 0.8), "old.json")
    assert panel.status is PanelStatus.SHOWN
    assert [(row.cell, row.metric) for row in panel.rows[:2]] == [
        ("balanced0-conc16", "output_throughput"),
        ("balanced0-conc16", "total_token_throughput"),
    ]
    assert {round(row.delta_pct or 0, 6) for row in panel.rows} == {25.0}
    assert {row.better for row in panel.rows} == {True}
    assert panel.unmatched == (
        "ISL=1024,OSL=1024,TP=8,PP=1,CONC=128: invalid here, invalid there",
        "ISL=1024,OSL=1024,TP=8,PP=1,CONC=256: incomplete here, incomplete there",
    )


def test_scores_against_the_previous_run_with_their_filters() -> None:
    theirs = {**SCORES, "gsm8k.exact_match__flexible-extract": 0.96}
    del theirs["aime.exact_match__none"]
    panel = accuracy_prev_run(OURS, other(accuracy=theirs), "old.json")
    assert [(row.metric, round(row.delta, 6), row.better) for row in panel.rows] == [
        ("gsm8k.exact_match__flexible-extract", -0.01, False),
        ("gsm8k.exact_match__strict-match", 0.0, None),
    ]


def test_ratios_against_another_driver() -> None:
    panel = framework_parity(OURS, scaled(other(driver="another"), 0.5), "x.json")
    assert panel.status is PanelStatus.SHOWN
    assert {row.ratio for row in panel.rows} == {2.0}
    better = {row.metric: row.better for row in panel.rows}
    assert better["output_throughput"] is True
    assert better["p99_ttft_ms"] is False
    assert "success_rate" not in better


@pytest.mark.parametrize(
    ("name", "theirs", "why"),
    [
        ("prev_run", OURS, "run-1 would be compared with itself"),
        ("accuracy_prev_run", OURS, "run-1 would be compared with itself"),
        ("framework_parity", evolve(OURS, driver="another"), "run-1 would be compared with itself"),
        ("prev_run", other(driver="another"), "driver is atom here, another there"),
        ("prev_run", other(arch="gfx950"), "arch is gfx942 here, gfx950 there"),
        ("prev_run", other(transport="rehearsal"), "transport is ssh here, rehearsal there"),
        ("framework_parity", other(), "both runs are of driver atom"),
        ("framework_parity", other(driver="b", model="else"), "model is org/model here, else there"),
        ("framework_parity", other(driver="b", arch="gfx950"), "arch is gfx942 here, gfx950 there"),
        ("accuracy_prev_run", other(model="else"), "model is org/model here, else there"),
        ("prev_run", "cannot read it", "cannot read it"),
    ],
)
def test_what_must_not_be_compared_is_refused(name: str, theirs: Sheet | str, why: str) -> None:
    panel = PANELS[name](OURS, theirs, "x.json")
    assert (panel.status, panel.reason, panel.rows) == (PanelStatus.REFUSED, why, ())


def test_nothing_named_and_nothing_shared() -> None:
    assert prev_run(OURS, None, "").status is PanelStatus.ABSENT
    assert prev_run(OURS, other(cells=()), "x").status is PanelStatus.EMPTY


def test_the_numbers_stand_beside_what_differs() -> None:
    theirs = other(image="rocm/atom:0", image_digests=("sha256:00",), plan_digest="e" * 64, hosts=("10.0.0.9",))
    found = {item.what: (item.ours, item.theirs) for item in compare(OURS, theirs).differs}
    assert found == {
        "image": ("rocm/atom:1", "rocm/atom:0"),
        "image digest": ("sha256:01", "sha256:00"),
        "hosts": ("10.0.0.1", "10.0.0.9"),
        "plan": ("dddddddddddd", "eeeeeeeeeeee"),
    }


def test_two_runs_that_differ_in_nothing_measure_noise() -> None:
    found = compare(OURS, scaled(other(), 1.01))
    assert found.differs == ()
    assert "noise" in found.notes[0]
    assert len(found.cells) == sum(len(cell.values) for cell in OURS.cells)
    assert len(found.scores) == 3


def test_an_unknown_digest_and_a_rehearsal_are_said() -> None:
    notes = compare(evolve(OURS, rehearsal=True), other(image_digests=())).notes
    assert notes == (
        "REHEARSAL: stand-in engines; no hardware was measured",
        "the image digest of a run is not known: one tag can stand for two images",
    )


@pytest.mark.parametrize(
    ("theirs", "across", "why", "hint"),
    [
        (OURS, (), "run-1 would be compared with itself", "name two runs"),
        (other(arch="gfx950", gpus=4), (), "arch is gfx942, not gfx950; gpus is 8", "--across arch --across gpus"),
        (other(arch="gfx950", gpus=4), ("gpus",), "arch is gfx942, not gfx950", "--across arch"),
        (other(cells=(), accuracy={}), (), "nothing was measured on both sides", "valid here, absent there"),
        (evolve(OURS, run_id="r", cells=(), accuracy={}), (), "nothing was measured", ""),
    ],
)  # fmt: skip
def test_unequal_runs_are_refused_unless_asked_for(
    theirs: Sheet, across: tuple[str, ...], why: str, hint: str
) -> None:
    with pytest.raises(Refusal, match=why) as caught:
        compare(OURS, theirs, across)
    assert hint in caught.value.hint
    assert compare(OURS, other(arch="gfx950"), ("arch",)).cells


def test_a_zero_has_no_ratio_and_unknown_names_no_direction() -> None:
    first = evolve(OURS.cells[0], values={"failed": 0.0, "own figure": 2.0})
    theirs = evolve(first, values={"failed": 0.0, "own figure": 1.0})
    failed, own = compare(evolve(OURS, cells=(first,)), other(cells=(theirs,))).cells
    assert (failed.ratio, failed.delta_pct, failed.better) == (None, None, None)
    assert (own.ratio, own.unit, own.better) == (2.0, "", None)
