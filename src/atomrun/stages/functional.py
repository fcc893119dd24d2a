"""The functional checks of the first session: does the server speak the API that clients expect."""

from __future__ import annotations

from atomrun.asking import Unanswered, ask_server
from atomrun.context import RunContext
from atomrun.outcomes import add_block, done, skipped
from atomrun.results import BlockResult, StageResult

__all__ = ["functional"]

_DEADLINE_S = 1200


def functional(run: RunContext) -> StageResult:
    """Each check asks all its questions; what fails is in its `BlockResult`."""
    checks = run.plan.checks
    asked = {"api_smoke": checks.api_smoke, "health_check": checks.health_check}
    if not any(asked.values()):
        return skipped("functional", "not asked for")
    try:
        answer = ask_server(run, "functional", "functional", asked, _DEADLINE_S)
    except Unanswered as error:
        for name in (name for name, wanted in asked.items() if wanted):
            add_block(run, BlockResult("functional", name, "error", error.reason, 0.0, {}, (), ()))
        return done("functional", "no answer")
    for name, questions in answer.items():
        wrong = [f"{item['name']}: {item['reason']}" for item in questions if item["reason"]]
        lines = tuple(
            f"{item['name']}: {item['reason'] or item['note'] or 'ok'} ({item['seconds']:.2f} s)"
            for item in questions
        )
        for item in questions:
            if item["note"]:
                run.warn(f"{name} {item['name']}: {item['note']}")
        seconds = sum(item["seconds"] for item in questions)
        status = "failed" if wrong else "ok"
        add_block(run, BlockResult("functional", name, status, "; ".join(wrong), seconds, {}, lines, ()))
    return done("functional")
