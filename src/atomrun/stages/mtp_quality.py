"""Speculative decoding: what the server accepts of its drafts, and whether answers still read like answers."""

from __future__ import annotations

from attrs import evolve

from atomcfg.plan import MtpQuality
from atomrun.asking import Order, Unanswered, ask_server
from atomrun.blocks import block_of, error_block
from atomrun.context import RunContext
from atomrun.outcomes import add_block, done, skipped
from atomrun.results import BlockResult, StageResult

__all__ = ["mtp_quality"]

_DEADLINE_S = 3600
_ID = "mtp_quality"


def mtp_quality(run: RunContext) -> StageResult:
    """Acceptance comes from the server's own metrics, the rest from a few fixed prompts."""
    wanted = run.plan.checks.mtp_quality
    if wanted is None:
        return skipped(_ID, "not asked for")
    began = run.now()
    try:
        answer = ask_server(run, "mtp", "mtp", {"prompt": wanted.prompt}, _DEADLINE_S)
    except Unanswered as error:
        block = error_block(run, _ID, _ID, wanted.specs, error.reason)
    else:
        block = _judge(run, wanted, answer)
    add_block(run, evolve(block, seconds=run.now() - began))
    return done(_ID, block.status)


def _judge(run: RunContext, wanted: MtpQuality, answer: Order) -> BlockResult:
    values: dict[str, float] = {}
    missing: dict[str, str] = {}
    for metric, name in (("mtp.acceptance_rate", "rate"), ("mtp.speculative_tokens_avg", "average")):
        if answer[name] is None:
            missing[metric] = f"the server's metrics do not say (/metrics answers {answer['metrics_status']})"
        else:
            values[metric] = answer[name]
    if answer["answers"]:
        values["mtp.empty_or_repeat_ratio"] = answer["degenerate"] / answer["answers"]
    else:
        missing["mtp.empty_or_repeat_ratio"] = "no prompt was answered"
    details = [f"{answer['degenerate']} of {answer['answers']} answers are empty or repeat themselves"]
    details += _chat_template(wanted, answer, values, missing)
    block = block_of(run, _ID, _ID, wanted.specs, values, missing)
    if wanted.speculative and "mtp.acceptance_rate" in missing:
        # The flags ask for speculation and nothing shows that it happens. Without enforcement it is only said.
        status = "invalid" if run.plan.enforce_thresholds else "unsupported"
        block = evolve(block, status=status, reason=missing["mtp.acceptance_rate"])
    return evolve(block, details=(*details, *answer["errors"]))


def _chat_template(
    wanted: MtpQuality, answer: Order, values: dict[str, float], missing: dict[str, str]
) -> list[str]:
    chat = answer.get("chat")
    if chat is None or chat["error"]:
        missing["accuracy.chat_template_ok"] = "no prompt is configured" if chat is None else chat["error"]
        return []
    right = chat["sha256"] == wanted.expected_sha256 if wanted.expected_sha256 else bool(chat["text"].strip())
    values["accuracy.chat_template_ok"] = float(right)
    expected = wanted.expected_sha256 or "nothing recorded to compare with"
    return [f"chat answer sha256 {chat['sha256']} (expected: {expected})"]
