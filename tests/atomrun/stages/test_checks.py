"""The optional blocks on the live server: accuracy, long context, MTP quality, quantisation parity."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from tests.atomrun.runs import (
    ENTER,
    NAME,
    Fleet,
    LiveHost,
    answer,
    container_plan,
    healthy_host,
    inside_script,
)
from tests.judging import make_result, make_spec

from atomcfg.plan import AccuracyTask, MtpQuality, NeedleCell, Plan, QuantParity
from atomcfg.tokens import Hole, bind, template
from atomrun.context import Options, RunContext
from atomrun.host import Completed
from atomrun.resultio import dump
from atomrun.results import BlockResult, StageStatus, Status
from atomrun.stages.accuracy import accuracy
from atomrun.stages.launch import launch
from atomrun.stages.long_context import long_context
from atomrun.stages.mtp_quality import mtp_quality
from atomrun.stages.preflight import preflight
from atomrun.stages.quant_parity import quant_parity
from atomrun.stages.start import start

FleetOf = Callable[..., Fleet]
SCORE = "gsm8k.exact_match__flexible-extract"


def opened(fleet: Fleet) -> RunContext:
    preflight(fleet.run)
    launch(fleet.run)
    run = fleet.opened()
    start(run)
    return run


def plan_with(**checks: Any) -> Plan:
    plan = container_plan()
    return evolve(plan, checks=evolve(plan.checks, **checks))


@pytest.mark.parametrize("stage", [accuracy, long_context, mtp_quality, quant_parity])
def test_what_is_not_asked_for_is_skipped(fleet_of: FleetOf, stage: Callable[[RunContext], Any]) -> None:
    assert stage(fleet_of(container_plan(), healthy_host()).run).status is StageStatus.SKIPPED


# --- accuracy


def tasks(count: int = 1) -> tuple[AccuracyTask, ...]:
    directory = template(bind(Hole.RUN_DIR), "/accuracy")
    return tuple(
        AccuracyTask(
            f"t{number}",
            "gsm8k",
            ("lm_eval", "--tasks", "gsm8k"),
            (),
            directory,
            100,
            (make_spec(SCORE, "min", 0.9),),
        )
        for number in range(count)
    )


def results(score: float = 0.95, version: str = "0.4.13") -> bytes:
    found = {"gsm8k": {"exact_match,flexible-extract": score, "exact_match_stderr,flexible-extract": "N/A"}}
    samples = {"gsm8k": {"original": 1319, "effective": 20}}
    return json.dumps({"results": found, "lm_eval_version": version, "n-samples": samples}).encode()


def evaluated(fleet_of: FleetOf, host: LiveHost, count: int = 1, **how: Any) -> tuple[BlockResult, ...]:
    fleet = fleet_of(plan_with(accuracy=tasks(count), lm_eval_install=("pip", "install", "lm-eval")), host, **how)
    run = opened(fleet)
    accuracy(run)
    return tuple(fleet.run.record.blocks)


def evaluating_host(read: Completed | None = None, count: int = 1) -> LiveHost:
    host = healthy_host()
    host.on(*inside_script("newest"), then=read or Completed(0, results()))
    for number in range(count):
        host.on_start(f"accuracy-{number}.1", seconds=9.0)
    return host


def test_a_score_is_judged_by_metric_and_filter(fleet_of: FleetOf) -> None:
    (block,) = evaluated(fleet_of, evaluating_host())
    assert (block.id, block.status, block.seconds, block.values) == ("t0", "ok", 9.0, {SCORE: 0.95})
    assert [(verdict.metric, verdict.status) for verdict in block.verdicts] == [(SCORE, Status.PASS)]
    assert "gsm8k: 20 of 1319 samples" in block.details


def test_a_low_score_fails(fleet_of: FleetOf) -> None:
    (block,) = evaluated(fleet_of, evaluating_host(Completed(0, results(0.5, version="0.4.9"))))
    assert block.status == "failed"
    assert "lm-eval 0.4.9, the plan names 0.4.13" in block.details


def test_uniform_zero_is_the_harness(fleet_of: FleetOf) -> None:
    (block,) = evaluated(fleet_of, evaluating_host(Completed(0, results(0.0))))
    assert block.status == "invalid"
    assert "every score is 0" in block.reason


@pytest.mark.parametrize(
    ("read", "ending", "reason"),
    [
        (Completed(3), {}, "lm-eval left no results file"),
        (Completed(0, b"[]"), {}, "expected a JSON object"),
        (
            None,
            {"code": 1, "err": b"ValueError: Tasks not found: gsm9k\n"},
            "ended with status 1: ValueError: Tasks",
        ),
        (None, {"code": 1}, "ended with status 1"),
        (None, {"state": "deadline"}, "did not end within its 100 s"),
    ],
)
def test_a_task_that_errors_does_not_stop_its_siblings(
    fleet_of: FleetOf, read: Completed | None, ending: Mapping[str, Any], reason: str
) -> None:
    host = evaluating_host(read, count=2)
    host.on_start("accuracy-0.1", **ending)
    first, second = evaluated(fleet_of, host, count=2)
    assert first.status == "error"
    assert reason in first.reason
    assert [verdict.status for verdict in first.verdicts] == [Status.INVALID]
    assert (second.status == "ok") is (read is None)


LOOK = (*ENTER, f"{NAME}0", "python3", "-c")


def test_lm_eval_is_installed_where_it_is_missing(fleet_of: FleetOf) -> None:
    host = evaluating_host()
    host.on(*LOOK, then=Completed(1))
    host.on_start("install-0.1")
    (block,) = evaluated(fleet_of, host)
    assert block.status == "ok"
    assert host.jobs["install-0.1"].spec.argv[-3:] == ("pip", "install", "lm-eval")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (Options(install=False), "lm-eval 0.4.13 is not installed (in the container: pip install lm-eval)"),
        (Options(), "lm-eval cannot be installed: ended with status 1: ERROR: No matching distribution"),
    ],
)
def test_lm_eval_that_cannot_be_had(fleet_of: FleetOf, options: Options, reason: str) -> None:
    host = evaluating_host(count=2)
    host.on(*LOOK, then=Completed(1))
    host.on_start("install-0.1", code=1, err=b"ERROR: No matching distribution\n")
    blocks = evaluated(fleet_of, host, count=2, options=options)
    assert [block.status for block in blocks] == ["error", "error"]
    assert all(block.reason.startswith(reason) for block in blocks)
    assert not [name for name in host.jobs if name.startswith("accuracy")]


def test_a_rehearsal_installs_nothing(fleet_of: FleetOf) -> None:
    plan = plan_with(accuracy=tasks())
    host = healthy_host()
    host.on("sh", "-c", then=lambda argv, stdin: Completed(0, results() if argv[3] == "newest" else b"python3\n"))
    host.on("python3", then=Completed(0, answer({})))
    host.on_start("accuracy-0.1")
    fleet = fleet_of(evolve(plan, container=None), host, transport="rehearsal")
    fleet.run.head.connection, fleet.run.head.root = host, host.root
    launch(fleet.run)
    run = fleet.opened()
    start(run)
    accuracy(run)
    assert fleet.run.record.blocks[0].status == "ok"
    assert not [argv for argv in host.argvs if "importlib" in " ".join(argv)]


# --- long context

NEEDLE = NeedleCell("n8k", 8000, 32, 8, 42, (make_spec("accuracy.niah_pass_rate__n8k", "min", 0.9),))


def needled(fleet_of: FleetOf, **told: Any) -> BlockResult:
    host = healthy_host()
    said = {"passed": 8, "asked": 8, "empty": 0, "cut": 0, "errors": [], "prompt_tokens": 7900.0, **told}
    host.on_start("needle0-0.1", out=answer(said))
    fleet = fleet_of(plan_with(long_context=(NEEDLE,)), host)
    long_context(opened(fleet))
    return fleet.run.record.blocks[0]


@pytest.mark.parametrize(
    ("told", "status", "rate"),
    [
        ({}, "ok", 1.0),
        ({"passed": 4}, "failed", 0.5),
        ({"passed": 4, "empty": 4}, "invalid", 0.5),
        ({"prompt_tokens": 4000.0}, "invalid", 1.0),
        ({"passed": 7, "errors": ["no answer in time"]}, "failed", 0.875),
        ({"passed": 0, "errors": ["HTTP 500"] * 8}, "error", None),
    ],
)
def test_needles(fleet_of: FleetOf, told: Mapping[str, Any], status: str, rate: float | None) -> None:
    block = needled(fleet_of, **told)
    assert block.status == status
    assert block.values == ({} if rate is None else {"accuracy.niah_pass_rate__n8k": rate})


def test_needles_after_the_servers_death(fleet_of: FleetOf) -> None:
    fleet = fleet_of(plan_with(long_context=(NEEDLE,)), healthy_host())
    run = opened(fleet)
    run.the_session.dead = "the server is gone"
    long_context(run)
    assert [(block.status, block.reason) for block in fleet.run.record.blocks] == [("error", "the server is gone")]


def test_needles_without_an_answer(fleet_of: FleetOf) -> None:
    host = healthy_host()
    host.on_start("needle0-0.1", code=1)
    fleet = fleet_of(plan_with(long_context=(NEEDLE,)), host)
    long_context(opened(fleet))
    assert fleet.run.record.blocks[0].status == "error"


# --- MTP quality

CHAT = {"sha256": "ab", "text": "Hello.", "error": ""}
MTP_SPECS = (make_spec("mtp.acceptance_rate", "min", 0.5), make_spec("accuracy.chat_template_ok", "min", 1))


def speculated(fleet_of: FleetOf, wanted: MtpQuality, enforce: bool = True, **told: Any) -> BlockResult:
    host = healthy_host()
    said = {"rate": 0.7, "average": 2.1, "metrics_status": 200, "answers": 8, "degenerate": 0, "errors": [], **told}
    host.on_start("mtp-0.1", out=answer(said))
    fleet = fleet_of(evolve(plan_with(mtp_quality=wanted), enforce_thresholds=enforce), host)
    mtp_quality(opened(fleet))
    return fleet.run.record.blocks[0]


def test_acceptance_answers_and_chat_template(fleet_of: FleetOf) -> None:
    block = speculated(fleet_of, MtpQuality("Hi", "ab", True, MTP_SPECS), chat=CHAT, degenerate=2)
    assert block.status == "ok"
    assert block.values == {
        "mtp.acceptance_rate": 0.7,
        "mtp.speculative_tokens_avg": 2.1,
        "mtp.empty_or_repeat_ratio": 0.25,
        "accuracy.chat_template_ok": 1.0,
    }


@pytest.mark.parametrize(("enforce", "status"), [(True, "invalid"), (False, "unsupported")])
def test_speculation_that_nothing_shows(fleet_of: FleetOf, enforce: bool, status: str) -> None:
    block = speculated(fleet_of, MtpQuality("", "", True, ()), enforce, rate=None, metrics_status=404)
    assert (block.status, block.reason) == (status, "the server's metrics do not say (/metrics answers 404)")


def test_another_chat_template_fails(fleet_of: FleetOf) -> None:
    block = speculated(fleet_of, MtpQuality("Hi", "cd", False, MTP_SPECS[1:]), chat=CHAT)
    assert (block.status, block.values["accuracy.chat_template_ok"]) == ("failed", 0.0)


@pytest.mark.parametrize("chat", [None, {"sha256": "", "text": "", "error": "HTTP 500"}])
def test_without_a_chat_answer_there_is_nothing_to_compare(
    fleet_of: FleetOf, chat: Mapping[str, str] | None
) -> None:
    told = {} if chat is None else {"chat": chat}
    block = speculated(fleet_of, MtpQuality("", "", False, ()), answers=0, **told)
    assert set(block.values) == {"mtp.acceptance_rate", "mtp.speculative_tokens_avg"}


def test_mtp_quality_without_an_answer(fleet_of: FleetOf) -> None:
    host = healthy_host()
    host.on_start("mtp-0.1", code=1)
    fleet = fleet_of(plan_with(mtp_quality=MtpQuality("", "", True, MTP_SPECS)), host)
    mtp_quality(opened(fleet))
    assert fleet.run.record.blocks[0].status == "error"


# --- quantisation parity

PARITY = (make_spec("quant_parity.probe_match", "min", 1),)


def compared(fleet_of: FleetOf, reference: str, recorded: str = "", **told: Any) -> BlockResult:
    host = healthy_host()
    said = {"sha256": "ab" * 32, "text": "Paris.", "error": "", "stable": True, **told}
    host.on_start("fingerprint-0.1", out=answer(said))
    fleet = fleet_of(plan_with(quant_parity=QuantParity("The capital", reference, PARITY)), host)
    if recorded:
        remember(fleet.run.folder.path.parent, reference, recorded)
    quant_parity(opened(fleet))
    return fleet.run.record.blocks[0]


def remember(runs: Path, stem: str, fingerprint: str) -> None:
    block = BlockResult("quant_parity", "quant_parity", "ok", "", 0.0, {}, (f"sha256 {fingerprint}",), ())
    for moment in ("20260101T000000.000Z", "20260102T000000.000Z"):
        folder = runs / f"{stem}-12345678-{moment}"
        folder.mkdir()
        (folder / "verdicts.json").write_text(dump(evolve(make_result(), stem=stem, blocks=(block,))))
    (runs / f"{stem}-12345678-20260103T000000.000Z").mkdir()  # newest, unfinished


@pytest.mark.parametrize(("recorded", "status", "match"), [("ab" * 32, "ok", 1.0), ("cd" * 32, "failed", 0.0)])
def test_the_last_run_of_the_reference_decides(fleet_of: FleetOf, recorded: str, status: str, match: float) -> None:
    block = compared(fleet_of, "ref", recorded)
    assert (block.status, block.values) == (status, {"quant_parity.probe_match": match})
    assert "compared with ref-12345678-20260102T000000.000Z" in block.details


@pytest.mark.parametrize("reference", ["", "ref"])
def test_without_a_reference_the_fingerprint_is_recorded(fleet_of: FleetOf, reference: str) -> None:
    block = compared(fleet_of, reference, stable=False)
    assert block.values == {}
    assert block.details[0] == f"sha256 {'ab' * 32}"
    assert "differently the second time" in block.details[2]
    assert [verdict.status for verdict in block.verdicts] == [Status.SKIPPED]


def test_a_fingerprint_that_cannot_be_taken(fleet_of: FleetOf) -> None:
    assert compared(fleet_of, "", error="HTTP 500: oops").reason == "HTTP 500: oops"
    host = healthy_host()
    host.on_start("fingerprint-0.1", code=1)
    fleet = fleet_of(plan_with(quant_parity=QuantParity("", "", ())), host)
    quant_parity(opened(fleet))
    assert fleet.run.record.blocks[0].status == "error"
