from __future__ import annotations

from attrs import evolve
from tests.judging import NO_CHECKS, make_cell, make_plan, make_spec

from atomcfg.plan import AccuracyTask, Checks, MtpQuality, NeedleCell, QuantParity
from atomrun.account import account_blocks, account_cells, specs_written
from atomrun.cells import incomplete_cell
from atomrun.results import BlockResult, CellState, Status

SCORE = make_spec("gsm8k.exact_match__strict-match", "min", 0.9)
GSM8K = AccuracyTask("gsm8k", "gsm8k", (), (), "/out", 600, (SCORE,))
BBH = AccuracyTask("bbh", "bbh", (), (), "/out", 600, ())
NEEDLE = NeedleCell("niah-32k", 32768, 32, 8, 42, (make_spec("accuracy.niah_pass_rate__niah-32k", "min", 1),))
MTP = MtpQuality("Hello", "", True, (make_spec("mtp.acceptance_rate", "min", 0.6),))
PARITY = QuantParity("Hello", "", (make_spec("quant_parity.probe_match", "min", 1),))

EVERYTHING = Checks(
    session=0,
    api_smoke=True,
    health_check=True,
    dmesg_scan=True,
    gpu_metrics_poll=True,
    lm_eval_version="0.4.13",
    lm_eval_install=(),
    accuracy=(GSM8K, BBH),
    long_context=(NEEDLE,),
    mtp_quality=MTP,
    quant_parity=PARITY,
)


def block(name: str, id: str, status: str = "ok", reason: str = "") -> BlockResult:  # noqa: A002 - the field's name
    return BlockResult(name, id, status, reason, 1.0, {}, (), ())


def test_cells_without_a_result_are_incomplete_and_in_their_place() -> None:
    first, second, third = (make_cell(make_spec("failed", "max", 0), id=f"c{number}") for number in (1, 2, 3))
    plan = make_plan(first, second, third)
    ran = incomplete_cell(plan, second, "the server died")
    found = account_cells(plan, [ran], {"c3": "not selected"})
    assert [(cell.id, cell.reason) for cell in found] == [
        ("c1", "never ran"),
        ("c2", "the server died"),
        ("c3", "not selected"),
    ]
    assert {cell.state for cell in found} == {CellState.INCOMPLETE}
    assert [verdict.status for cell in found for verdict in cell.verdicts] == [Status.INVALID] * 3


def test_checks_without_a_result_are_errors() -> None:
    plan = make_plan(checks=EVERYTHING)
    found = account_blocks(plan, [], {"mtp_quality": "left out (--skip)"})
    assert [(item.block, item.id, item.status, item.reason) for item in found] == [
        ("functional", "functional", "error", "never ran"),
        ("dmesg", "dmesg", "error", "never ran"),
        ("gpu_metrics", "gpu_metrics", "error", "never ran"),
        ("accuracy", "gsm8k", "error", "never ran"),
        ("accuracy", "bbh", "error", "never ran"),
        ("long_context", "niah-32k", "error", "never ran"),
        ("mtp_quality", "mtp_quality", "skipped", "left out (--skip)"),
        ("quant_parity", "quant_parity", "error", "never ran"),
    ]
    assert [len(item.verdicts) for item in found] == [0, 0, 0, 1, 0, 1, 1, 1]


def test_checks_that_came_once_per_node_or_probe_are_not_asked_for_again() -> None:
    checks = evolve(NO_CHECKS, api_smoke=True, health_check=True, dmesg_scan=True)
    found = [block("functional", "api_smoke"), block("dmesg", "10.0.0.1"), block("dmesg", "10.0.0.2")]
    assert account_blocks(make_plan(checks=checks), found, {}) == tuple(found)


def test_one_probe_alone_is_asked_for() -> None:
    for checks in (evolve(NO_CHECKS, api_smoke=True), evolve(NO_CHECKS, health_check=True)):
        (missing,) = account_blocks(make_plan(checks=checks), [], {})
        assert (missing.block, missing.seconds) == ("functional", 0)


def test_a_result_that_the_plan_did_not_ask_for_is_kept_as_it_is() -> None:
    extra = block("gpu_metrics", "10.0.0.1", "error", "no tool")
    assert account_blocks(make_plan(), [extra], {}) == (extra,)


def test_each_task_needs_its_own_result() -> None:
    checks = evolve(NO_CHECKS, accuracy=(GSM8K, BBH))
    found = account_blocks(make_plan(checks=checks), [block("accuracy", "bbh")], {})
    assert [(item.id, item.status) for item in found] == [("bbh", "ok"), ("gsm8k", "error")]


def test_a_check_that_could_not_be_carried_out_still_has_its_verdicts() -> None:
    plan = make_plan(checks=evolve(NO_CHECKS, accuracy=(GSM8K,)))
    (found,) = account_blocks(plan, [block("accuracy", "gsm8k", "error", "the server is down")], {})
    assert [(item.owner, item.status, item.reason) for item in found.verdicts] == [
        ("gsm8k", Status.INVALID, "the server is down")
    ]
    (unsaid,) = account_blocks(plan, [block("accuracy", "gsm8k", "unsupported")], {})
    assert unsaid.verdicts[0].reason == "unsupported"


def test_specs_are_counted_from_the_plan() -> None:
    cells = [make_cell(make_spec("failed", "max", 0), make_spec("success_rate", "min", 1))]
    assert specs_written(make_plan(*cells, checks=EVERYTHING)) == 6
    assert specs_written(make_plan(*cells)) == 2
