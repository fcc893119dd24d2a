"""Everything accounted for, judged as a whole, and written down."""

from __future__ import annotations

from atomrun.conclude import Run, conclude
from atomrun.context import RunContext
from atomrun.outcomes import done
from atomrun.report import References, write
from atomrun.results import StageResult

__all__ = ["report"]


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
    references = References(run.options.prev, run.options.parity)
    paths = write(run.folder.path, record.result, run.plan, references)
    return done("report", f"{len(paths)} files")
