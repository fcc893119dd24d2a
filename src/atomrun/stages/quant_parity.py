"""Quantisation parity: the greedy answer to a fixed prompt, against the last run of a reference configuration."""

from __future__ import annotations

from pathlib import Path

from attrs import evolve

from atomcfg.plan import QuantParity
from atomrun.asking import Order, Unanswered, ask_server
from atomrun.blocks import block_of, error_block
from atomrun.context import RunContext
from atomrun.outcomes import add_block, done, skipped
from atomrun.resultio import ResultError, load
from atomrun.results import BlockResult, StageResult

__all__ = ["quant_parity"]

_DEADLINE_S = 900
_ID = "quant_parity"
_METRIC = "quant_parity.probe_match"
_SHA = "sha256 "


def quant_parity(run: RunContext) -> StageResult:
    """Without a reference the fingerprint is recorded, for other configurations to compare with."""
    wanted = run.plan.checks.quant_parity
    if wanted is None:
        return skipped(_ID, "not asked for")
    began = run.now()
    try:
        answer = ask_server(run, "fingerprint", "fingerprint", {"prompt": wanted.prompt}, _DEADLINE_S)
    except Unanswered as error:
        block = error_block(run, _ID, _ID, wanted.specs, error.reason)
    else:
        block = _judge(run, wanted, answer)
    add_block(run, evolve(block, seconds=run.now() - began))
    return done(_ID, block.status)


def _judge(run: RunContext, wanted: QuantParity, answer: Order) -> BlockResult:
    if answer["error"]:
        return error_block(run, _ID, _ID, wanted.specs, answer["error"])
    values: dict[str, float] = {}
    missing: dict[str, str] = {}
    details = [f"{_SHA}{answer['sha256']}", f"answer: {answer['text']}"]
    if not answer["stable"]:
        details.append("the same prompt was answered differently the second time")
    if not wanted.reference_stem:
        missing[_METRIC] = "no reference is configured: recorded only"
    else:
        name, fingerprint = _reference(run, wanted.reference_stem)
        if not fingerprint:
            missing[_METRIC] = f"no run of {wanted.reference_stem} with a fingerprint lies beside this one"
        else:
            values[_METRIC] = float(fingerprint == answer["sha256"])
            details.append(f"compared with {name}")
    return evolve(block_of(run, _ID, _ID, wanted.specs, values, missing), details=tuple(details))


def _reference(run: RunContext, stem: str) -> tuple[str, str]:
    """The newest run of a stem beside this one that recorded a fingerprint, and the fingerprint."""
    folders = sorted(run.folder.path.parent.glob(f"{stem}-*"), key=lambda path: path.name.rpartition("-")[2])
    for folder in reversed(folders):
        fingerprint = _recorded(folder, stem, run.transport)
        if folder != run.folder.path and fingerprint:
            return folder.name, fingerprint
    return "", ""


def _recorded(folder: Path, stem: str, transport: str) -> str:
    try:
        result = load((folder / "verdicts.json").read_text("utf-8"))
    except (OSError, ResultError):
        return ""
    same_kind = (result.transport == "rehearsal") == (transport == "rehearsal")
    if result.stem != stem or not same_kind:
        return ""
    details = [line for block in result.blocks if block.block == _ID for line in block.details]
    return next((line.removeprefix(_SHA) for line in details if line.startswith(_SHA)), "")
