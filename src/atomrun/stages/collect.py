"""Brings a cell's artifact and logs home."""

from __future__ import annotations

import json
import re

from atomcfg.tokens import Hole, fill
from atomrun.context import CellRun, RunContext
from atomrun.folder import attempt_folder
from atomrun.outcomes import done, skipped
from atomrun.poll import poll_figures
from atomrun.results import StageResult, StageStatus

__all__ = ["collect"]

_LOG_BYTES = 8 << 20
_BEGAN = re.compile(rb"^atomrun: began (\d{8}-\d{6})$", re.MULTILINE)


def collect(run: RunContext) -> StageResult:
    """The artifact comes from this attempt's own directory, whole by its SHA-256. Nothing else is a result."""
    current = run.the_cell
    if not current.started:
        return skipped("collect", "the client never started")
    _keep_logs(run, current)
    if current.exit is None:
        return skipped("collect", "the client did not end by itself")
    values = run.bound(run.head, current.attempt)
    directory = fill(current.cell.artifact.directory, values)
    on_host = run.head.run_dir + directory.removeprefix(values[Hole.RUN_DIR.value])
    folder = attempt_folder(current.cell, current.attempt)
    try:
        data = run.head.host.get(f"{on_host}/{current.cell.artifact.name}")
    except FileNotFoundError:
        found = StageResult("collect", StageStatus.WARNING, "the client left no artifact", cell=current.cell.id)
    else:
        current.artifact = data.decode("utf-8", "replace")
        run.folder.keep(f"{folder}/{current.cell.artifact.name}", data)
        found = done("collect", f"{len(data)} bytes", cell=current.cell.id)
    current.polled = poll_figures(run, current.exit.seconds)
    attempt = {
        "cell": current.cell.id,
        "attempt": current.attempt,
        "exit": current.exit.code,
        "began": current.began,
        "seconds": current.exit.seconds,
        "polled": current.polled,
    }
    run.folder.keep(f"{folder}/attempt.json", json.dumps(attempt).encode())
    return found


def _keep_logs(run: RunContext, current: CellRun) -> None:
    for stream in ("out", "err"):
        data = run.head.host.output(current.job, stream, -_LOG_BYTES, _LOG_BYTES)
        run.folder.keep_log(f"{current.job}.{stream}.log", data)
        stamp = _BEGAN.search(data)
        if stamp is not None:
            current.began = stamp.group(1).decode()
        current.log += data.decode("utf-8", "replace")
