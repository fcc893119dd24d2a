"""The order in which a run takes sessions and cells, and what it can take at most."""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve
from tests.judging import make_cell, make_plan

from atomcfg.plan import Estimate, Plan
from atomrun.context import Options
from atomrun.order import cells_of, sessions_of, worst_case
from atomrun.run import execute

from .runs import Fleet, container_plan, healthy_host


def two_sessions() -> Plan:
    """The cheapest cell is the second of the second session."""
    sizes = {"a": (0, 16), "b": (0, 32), "c": (1, 8), "d": (1, 64)}
    cells = [
        make_cell(id=name, session=number, concurrency=level, num_prompts=640, isl=128, osl=128)
        for name, (number, level) in sizes.items()
    ]
    plan = make_plan(*cells)
    (first,) = plan.sessions
    return evolve(
        plan,
        sessions=(evolve(first, cells=("a", "b")), evolve(first, index=1, cells=("c", "d"))),
    )


def order(plan: Plan, canary: bool, without: str = "") -> str:
    def wanted(name: str) -> bool:
        return name not in without

    sessions = sessions_of(plan, wanted, canary)
    return " ".join("".join(cell.id for cell in cells_of(plan, each, wanted, canary)) for each in sessions)


def test_the_plans_order_unless_asked() -> None:
    assert order(two_sessions(), canary=False) == "ab cd"


def test_a_canary_is_the_cheapest_that_is_wanted() -> None:
    assert order(two_sessions(), canary=True) == "dc ab"
    assert order(two_sessions(), canary=True, without="d") == "ba c"
    assert order(two_sessions(), canary=True, without="abcd") == " "


def test_the_worst_case_is_said_in_hours_and_minutes() -> None:
    plan = evolve(make_plan(make_cell()), estimate=Estimate(server_starts=1, bound_s=3661, gpu_hours=8.1))
    assert worst_case(plan) == "at most 1 h 02 min by the plan's budgets: 1 server start, 8 GPU hours"
    plan = evolve(plan, estimate=Estimate(server_starts=2, bound_s=60, gpu_hours=0.4))
    assert worst_case(plan) == "at most 0 h 01 min by the plan's budgets: 2 server starts, 0 GPU hours"


def test_a_run_says_its_worst_case_first_and_takes_the_canary_first(fleet_of: Callable[..., Fleet]) -> None:
    plan = container_plan(cells=3)
    *dear, cheap = plan.cells
    plan = evolve(plan, cells=(*dear, evolve(cheap, osl=cheap.osl // 2)))
    fleet = fleet_of(plan, healthy_host(cells=3), options=Options(canary=True))
    result = execute(fleet.run)
    assert fleet.events[0].text.startswith("at most ")
    taken = [stage.cell for stage in fleet.run.record.stages if stage.stage == "bench"]
    assert taken == ["c2", "c0", "c1"]
    assert [cell.id for cell in result.cells] == ["c0", "c1", "c2"], "reports keep the plan's order"
