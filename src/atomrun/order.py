"""In which order a run takes the plan's sessions and cells. Pure."""

from __future__ import annotations

from collections.abc import Callable

from atomcfg.plan import Cell, Plan, Session

__all__ = ["cells_of", "sessions_of", "worst_case"]

Wanted = Callable[[str], bool]


def sessions_of(plan: Plan, wanted: Wanted, canary: bool) -> tuple[Session, ...]:
    """The plan's order; with `canary`, the session of the cheapest cell that is wanted comes first."""
    cheapest = _cheapest(plan, wanted) if canary else None
    return tuple(sorted(plan.sessions, key=lambda each: cheapest is not None and each.index != cheapest.session))


def cells_of(plan: Plan, session: Session, wanted: Wanted, canary: bool) -> tuple[Cell, ...]:
    """The session's cells that are wanted, in the plan's order; with `canary`, the cheapest of all comes first."""
    cheapest = _cheapest(plan, wanted) if canary else None
    cells = [cell for cell in plan.cells if cell.id in session.cells and wanted(cell.id)]
    return tuple(sorted(cells, key=lambda cell: cheapest is not None and cell is not cheapest))


def worst_case(plan: Plan) -> str:
    """What the plan can take at most, by its budgets. Never a forecast."""
    estimate = plan.estimate
    starts = f"{estimate.server_starts} server start{'' if estimate.server_starts == 1 else 's'}"
    hours, minutes = divmod(-(-estimate.bound_s // 60), 60)
    return f"at most {hours} h {minutes:02} min by the plan's budgets: {starts}, {estimate.gpu_hours:.0f} GPU hours"


def _cheapest(plan: Plan, wanted: Wanted) -> Cell | None:
    """By the rounds of requests that a cell makes, times the tokens of each."""
    cells = [cell for cell in plan.cells if wanted(cell.id)]
    return min(cells, key=_cost, default=None)


def _cost(cell: Cell) -> float:
    return cell.num_prompts / cell.concurrency * (cell.isl + cell.osl)
