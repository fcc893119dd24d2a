"""Needle-in-a-haystack cells: does the model find a key in a prompt of the stated length?"""

from __future__ import annotations

from attrs import evolve

from atomcfg.plan import NeedleCell
from atomrun.asking import Order, Unanswered, ask_server
from atomrun.blocks import block_of, error_block
from atomrun.context import RunContext
from atomrun.outcomes import add_block, done, skipped
from atomrun.results import BlockResult, StageResult

__all__ = ["long_context"]

_PER_PROMPT_S = 900
_MARGIN_S = 120
_MOST_EMPTY = 0.25  # of the answers: above this the harness, not the model, is judged
_LENGTH_SLACK = 0.2


def long_context(run: RunContext) -> StageResult:
    """One question per prompt, with the key at depths from start to end."""
    cells = run.plan.checks.long_context
    if not cells:
        return skipped("long_context", "not asked for")
    for number, cell in enumerate(cells):
        add_block(run, _ask(run, number, cell))
    return done("long_context", f"{len(cells)} cells")


def _ask(run: RunContext, number: int, cell: NeedleCell) -> BlockResult:
    if run.the_session.dead:
        return error_block(run, "long_context", cell.id, cell.specs, run.the_session.dead)
    order = {"isl": cell.isl, "osl": cell.osl, "num_prompts": cell.num_prompts, "seed": cell.seed}
    began = run.now()
    try:
        answer = ask_server(run, f"needle{number}", "needle", order, cell.num_prompts * _PER_PROMPT_S + _MARGIN_S)
    except Unanswered as error:
        return error_block(run, "long_context", cell.id, cell.specs, error.reason)
    return evolve(_judge(run, cell, answer), seconds=run.now() - began)


def _judge(run: RunContext, cell: NeedleCell, answer: Order) -> BlockResult:
    asked, errors = answer["asked"], answer["errors"]
    if len(errors) == asked:
        return error_block(run, "long_context", cell.id, cell.specs, f"every request failed: {errors[0]}")
    doubt = ""
    if answer["empty"] > asked * _MOST_EMPTY:
        doubt = f"{answer['empty']} of {asked} answers are empty"
    tokens = answer["prompt_tokens"]
    if tokens and abs(tokens - cell.isl) > cell.isl * _LENGTH_SLACK:
        doubt = f"the prompts had {tokens:.0f} tokens, the plan asks for {cell.isl}"
    values = {f"accuracy.niah_pass_rate__{cell.id}": answer["passed"] / asked}
    block = block_of(run, "long_context", cell.id, cell.specs, values, {}, doubt)
    details = [f"{answer['passed']} of {asked} keys found, {answer['cut']} answers cut at their length"]
    return evolve(block, details=(*details, f"{tokens:.0f} tokens a prompt", *errors))
