"""The weights: proven by their manifest, fetched where that is wanted."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve
from tests.atomrun.runs import Fleet, LiveHost, answer, container_plan, healthy_host, probe

from atomcfg.plan import EnvVar, Model, Plan
from atomrun.host import Completed
from atomrun.results import StageResult, StageStatus
from atomrun.stages.launch import launch
from atomrun.stages.model import model
from atomrun.stages.preflight import preflight

FleetOf = Callable[..., Fleet]
ABSENT = {"path": "", "files": 0, "bytes": 0, "fault": "org/model is not in /models"}
THERE = {"path": "/models/x", "files": 3, "bytes": 7 * 10**9, "fault": ""}


def looked(fleet: Fleet) -> StageResult:
    preflight(fleet.run)
    launch(fleet.run)
    return model(fleet.run)


def remote(plan: Plan) -> Plan:
    env = (EnvVar("HF_HUB_CACHE", "/models"), EnvVar("HF_TOKEN", secret="hf_token"))
    session = evolve(plan.sessions[0], ranks=(evolve(plan.sessions[0].ranks[0], env=env),))
    return evolve(plan, model=Model("org/model", True, "fp8"), sessions=(session,))


def weights(host: LiveHost, *answers: dict[str, object]) -> LiveHost:
    """What the probe says, one after another."""
    left = list(answers)
    host.on(*probe("weights"), then=lambda argv, stdin: Completed(0, answer(left.pop(0))))
    return host


def test_weights_that_are_whole(fleet_of: FleetOf) -> None:
    fleet = fleet_of(container_plan(), healthy_host())
    assert looked(fleet).status is StageStatus.OK
    assert fleet.told("finding")[-1] == ("model", "ok", "org/model: 7.0 GB in 3 files")


def test_weights_that_are_missing(fleet_of: FleetOf) -> None:
    result = looked(fleet_of(container_plan(), weights(healthy_host(), ABSENT)))
    assert (result.status, result.reason) == (StageStatus.FAILED, "org/model is not in /models")
    assert "model.remote" in result.hint


def test_they_are_downloaded_and_looked_at_again(fleet_of: FleetOf) -> None:
    host = weights(healthy_host(), ABSENT, THERE)
    host.on_start("download")
    assert looked(fleet_of(remote(container_plan()), host)).status is StageStatus.OK
    spec = host.jobs["download"].spec
    assert spec.secret_input == (("HF_TOKEN", "hf_token"),)
    assert "HF_HUB_CACHE=/models" in spec.argv
    assert spec.argv[-1] == "org/model"


def test_what_is_there_is_not_downloaded(fleet_of: FleetOf) -> None:
    host = weights(healthy_host(), THERE)
    assert looked(fleet_of(remote(container_plan()), host)).status is StageStatus.OK
    assert "download" not in host.jobs


@pytest.mark.parametrize(
    ("ending", "then", "reason"),
    [
        (
            {"code": 1, "err": b"huggingface_hub.errors.GatedRepoError: 401\n"},
            (),
            "status 1: huggingface_hub.errors.Gated",
        ),
        ({"code": 0}, ({**ABSENT, "fault": "1 of 3 weight files are missing"},), "1 of 3 weight files are missing"),
    ],
)
def test_a_download_that_does_not_bring_them(
    fleet_of: FleetOf, ending: dict[str, object], then: tuple[dict[str, object], ...], reason: str
) -> None:
    host = weights(healthy_host(), ABSENT, *then)
    host.on_start("download", **ending)
    result = looked(fleet_of(remote(container_plan()), host))
    assert result.status is StageStatus.FAILED
    assert reason in result.reason
