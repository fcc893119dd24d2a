"""The threshold file of a calibration, with where its bounds come from, and what is doubtful about them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from atomcfg._version import __version__

from .bounds import ENOUGH, Bound
from .intake import Measured

__all__ = ["thresholds_text", "warnings_of"]

_SIGMAS = 3.0
_NAMED = 3

Document = dict[str, Any]  # JSON


def thresholds_text(runs: Sequence[Measured], bounds: Sequence[Bound], margin_pct: float) -> str:
    """A threshold document that `atomcfg` compiles. Its date is that of the newest run."""
    document: Document = {"_calibration": _calibration(runs, bounds, margin_pct)}
    for bound in bounds:
        table = document.setdefault(bound.block, {}) if bound.block else document
        spec = {"kind": bound.kind} if bound.value is None else {"kind": bound.kind, "value": _plain(bound.value)}
        table.setdefault(bound.owner, {})[bound.metric] = spec | ({"_note": bound.note} if bound.note else {})
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def warnings_of(runs: Sequence[Measured], bounds: Sequence[Bound]) -> tuple[str, ...]:
    """What the reader should know before enforcing these bounds."""
    return tuple(_warnings(runs, bounds))


def _warnings(runs: Sequence[Measured], bounds: Sequence[Bound]) -> Iterator[str]:
    if len(runs) < ENOUGH:
        count = "one run shows no spread" if len(runs) == 1 else f"the spread of {len(runs)} runs is a guess"
        yield f"{count}: calibrate from {ENOUGH} or more"
    noisy = sorted(
        (bound for bound in bounds if bound.room is not None and bound.room < _SIGMAS),
        key=lambda bound: bound.room or 0.0,
    )
    if noisy:
        shown = "; ".join(f"{item.owner} {item.metric} at {item.room:.1f} sigma" for item in noisy[:_NAMED])
        yield (
            f"{len(noisy)} of {len(bounds)} bounds lie within the noise (under {_SIGMAS:g} sigma from the mean), "
            f"and will fail good runs: {shown}; a larger --margin moves them out"
        )
    thin = [bound for bound in bounds if bound.value is None]
    if thin:
        shown = "; ".join(f"{item.owner} {item.metric}: {item.note}" for item in thin[:_NAMED])
        yield f"{len(thin)} percentiles rest on too few requests and are stated as info: {shown}"
    if any(run.sheet.rehearsal for run in runs):
        yield "REHEARSAL: bounds of stand-ins, for rehearsals only"
    failed = [run.result.run_id for run in runs if run.result.verdict.value == "FAIL"]
    if failed:
        yield f"gates of the old thresholds failed in {', '.join(failed)}: make sure that this is no regression"
    if any(run.plan.checks.mtp_quality is not None for run in runs):
        yield "mtp_quality gets no bounds here: write them by hand"


def _calibration(runs: Sequence[Measured], bounds: Sequence[Bound], margin_pct: float) -> Document:
    sheet = runs[0].sheet
    spread: Document = {}
    for bound in bounds:
        figures = {"mean": bound.mean, "sigma": bound.sigma, "room_sigma": bound.room}
        spread.setdefault(bound.owner, {})[bound.metric] = {
            name: _rounded(value) for name, value in figures.items() if value is not None
        }
    return {
        "tool": f"atomrun {__version__}",
        "date": max(run.result.started_at for run in runs)[:10],
        "runs": [run.result.run_id for run in runs],
        "rehearsal": sheet.rehearsal,
        "plan_digest": sheet.plan_digest,
        "arch": runs[0].plan.gpu_arch,
        "detected_arch": sheet.arch,
        "driver": sheet.driver,
        "image": sheet.image,
        "image_digests": list(sheet.image_digests),
        "nodes": sorted({host for run in runs for host in run.sheet.hosts}),
        "margin_pct": margin_pct,
        "warnings": list(warnings_of(runs, bounds)),
        "spread": spread,
    }


def _plain(value: float) -> float | int:
    return int(value) if value == int(value) else value


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")
