"""The plan's options against the help of the image's programs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve
from tests.atomrun.runs import Fleet, container_plan, healthy_host

from atomcfg.plan import Plan
from atomrun.host import HostError
from atomrun.results import StageStatus
from atomrun.stages.flags import flags
from atomrun.stages.preflight import preflight

FleetOf = Callable[..., Fleet]

SERVER_HELP = b"@@ATOMRUN\n  --model MODEL\n  --tensor-parallel-size N, -tp N\n"
CLIENT_HELP = b"@@ATOMRUN\n  --seed N\n  --num-prompts N\n"


def plan_with(*server: str) -> Plan:
    plan = container_plan(cells=2)
    (session,) = plan.sessions
    ranks = tuple(evolve(rank, argv=("python3", "-m", "engine", "--model", "m", *server)) for rank in session.ranks)
    cells = tuple(evolve(cell, argv=("client", "--seed", str(n))) for n, cell in enumerate(plan.cells))
    return evolve(plan, sessions=(evolve(session, ranks=ranks),), cells=cells)


def looked(fleet: Fleet) -> list[tuple[str, str]]:
    preflight(fleet.run)
    fleet.events.clear()
    flags(fleet.run)
    return [(status, text) for _, status, text in fleet.told("finding")]


def test_one_look_in_a_container_without_devices(fleet_of: FleetOf) -> None:
    host = healthy_host()
    host.on_start("flags", out=SERVER_HELP + CLIENT_HELP)
    found = looked(fleet_of(plan_with("-tp", "8"), host))
    assert found == [("ok", "2 options of python3 -m engine"), ("ok", "1 options of client")]
    spec = host.jobs["flags"].spec
    assert spec.argv[:3] == ("docker", "run", "--rm")
    assert spec.argv[-2:] == ("python3 -m engine", "client")
    assert not {"--device", "--privileged", "-v"} & set(spec.argv)
    assert "atomrun-help-run-1" in spec.stop_argv, "whatever ends the job takes the container away"


def test_an_unknown_option_is_an_error_that_names_the_nearest(fleet_of: FleetOf) -> None:
    host = healthy_host()
    host.on_start("flags", out=SERVER_HELP + CLIENT_HELP)
    fleet = fleet_of(plan_with("--tensor-paralel-size", "8"), host)
    preflight(fleet.run)
    result = flags(fleet.run)
    assert result.status is StageStatus.FAILED
    assert result.reason == "python3 -m engine in rocm/atom:1 has no option --tensor-paralel-size"
    assert result.hint.startswith("did you mean --tensor-parallel-size?")


@pytest.mark.parametrize(
    ("out", "code"),
    [(b"", 125), (b"@@ATOMRUN\n@@ATOMRUN\n", 0), (b"@@ATOMRUN\nno GPU, see --debug\n", 0)],
)
def test_help_that_cannot_be_read_is_no_error(fleet_of: FleetOf, out: bytes, code: int) -> None:
    host = healthy_host()
    host.on_start("flags", code, out=out)
    assert looked(fleet_of(plan_with("--bogus"), host)) == [
        ("skipped", "not checked, no help to read: python3 -m engine"),
        ("skipped", "not checked, no help to read: client"),
    ]


def test_a_node_that_does_not_answer_is_no_error_here(fleet_of: FleetOf) -> None:
    host = healthy_host()
    fleet = fleet_of(plan_with(), host)
    preflight(fleet.run)
    host.fail("start", HostError("10.0.0.1", "timeout", "no answer"))
    assert flags(fleet.run).status is StageStatus.OK


def test_only_where_there_is_an_image(fleet_of: FleetOf) -> None:
    rehearsed = fleet_of(plan_with(), healthy_host(), transport="rehearsal")
    assert flags(rehearsed.run).status is StageStatus.SKIPPED
    unseen = fleet_of(plan_with(), healthy_host())
    assert flags(unseen.run).reason == "the image is not there"
