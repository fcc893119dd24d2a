"""Everything accounted for, judged as a whole, and written down."""

from __future__ import annotations

from atomrun.conclude import Run, conclude
from atomrun.context import RunContext
from atomrun.firsterror import first_error, tail
from atomrun.outcomes import done
from atomrun.report import write
from atomrun.results import StageResult

__all__ = ["report"]

_LOGS = 24
_LINES = 100


def report(run: RunContext) -> StageResult:
    """Set `Record.result` and write the reports into the run's folder."""
    record = run.record
    collected = Run(
        run_id=run.run_id,
        transport=run.transport,
        started_at=run.started_at,
        seconds=run.now(),
        cells=tuple(record.cells),
        blocks=tuple(record.blocks),
        stages=tuple(record.stages),
        interrupted=record.interrupted,
        deselected=record.deselected,
        facts=record.facts,
        warnings=tuple(record.warnings),
    )
    record.result = conclude(run.plan, collected)
    run.journal.write("verdict", verdict=record.result.verdict.value, reasons=record.result.reasons)
    paths = write(run.folder.path, record.result, run.plan, _logs(run))
    return done("report", f"{len(paths)} files")


def _logs(run: RunContext) -> dict[str, str]:
    """The ends of the logs by name, and before them the first error, with its file."""
    ends: dict[str, str] = {}
    first: dict[str, str] = {}
    for path in sorted(run.folder.path.glob("logs/*.log"))[:_LOGS]:
        text = path.read_text("utf-8", "replace")
        if text.strip():
            ends[path.name] = tail(text, _LINES)
        cause = first_error(text)
        if cause and not first:
            first[f"first error, in {path.name}"] = cause
    return {**first, **ends}
