"""`atomrun calibrate`: bounds from runs, or what a threshold file leaves open."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from attrs import evolve

from atomrun.calibration import Measured, Unfit, admit, bounds_of, thresholds_text, warnings_of
from atomrun.folder import write_whole
from atomrun.results import CellState, RunResult, Status

from .output import Fault
from .stored import find_run, read_plan, read_result

__all__ = ["run_calibrate"]


def run_calibrate(args: Namespace) -> int:
    """Write thresholds; with `--lint`, look at some and write nothing."""
    if args.lint:
        return _lint(args)
    runs = _measured(args)
    try:
        admit(runs, rehearsals=args.rehearsal)
    except Unfit as error:
        raise Fault(str(error), error.hint) from None
    bounds = bounds_of(runs, args.margin)
    text = thresholds_text(runs, bounds, args.margin)
    for warning in warnings_of(runs, bounds):
        sys.stderr.write(f"warning: {warning}\n")
    gated = sum(bound.value is not None for bound in bounds)
    summary = f"{gated} bounds and {len(bounds) - gated} records from {len(runs)} runs, margin {args.margin:g} %"
    if args.output:
        write_whole(Path(args.output), text.encode())
        sys.stdout.write(f"{args.output}: {summary}\n")
    else:
        sys.stdout.write(text)
        sys.stderr.write(f"{summary}\n")
    return 0


def _measured(args: Namespace) -> list[Measured]:
    folders = [find_run(name, args.runs) for name in args.run]
    return [Measured(read_result(folder), read_plan(folder)) for folder in folders]


def _lint(args: Namespace) -> int:
    """Specs that cannot fail, gated metrics without one; with runs, how these bounds would have judged them. The
    exit status is 1 when there is something to say."""
    from atomcfg.cli.output import report
    from atomcfg.documents import Source
    from atomcfg.rebinding import gaps_of

    source = _source(args.lint)
    found = gaps_of(Source("threshold", source.name, source.read_bytes()))
    report(found.diagnostics, Namespace(quiet=True, verbose=False, color="auto"))
    if found.value is None:
        raise Fault(f"{args.lint} cannot be used", "atomcfg check FILE tells the same")
    lines = []
    for gaps in found.value:
        where = f"{gaps.profile}: {gaps.key}" if gaps.profile else gaps.key
        for place, metric, kind, value in gaps.vacuous:
            lines.append(f"{place}: {where} {metric}: {kind} {value:g} cannot fail")
        if gaps.missing:
            lines.append(f"{where}: no spec for {', '.join(gaps.missing)}")
        if gaps.recorded:
            lines.append(f"{where}: recorded only: {', '.join(gaps.recorded)}")
    lines += _would_fail(_measured(args), source)
    written = sum(gaps.written for gaps in found.value)
    vacuous = sum(len(gaps.vacuous) for gaps in found.value)
    missing = sum(len(gaps.missing) for gaps in found.value)
    summary = f"{len(found.value)} cells, {written} specs: {vacuous} cannot fail, {missing} gated metrics have none"
    sys.stdout.write("".join(f"{line}\n" for line in (*lines, summary)))
    return 1 if lines else 0


def _source(name: str) -> Path:
    path = Path(name)
    if not path.is_file():
        raise Fault(f"cannot read {name}: no such file")
    return path


def _would_fail(runs: Sequence[Measured], source: Path) -> list[str]:
    """Of each bound that some of these runs break, how many do."""
    import polars

    from atomcfg.documents import Source
    from atomcfg.rebinding import rebind
    from atomrun.bulk import judged, spec_frame
    from atomrun.frames import measurements

    if not runs:
        return []
    plan = rebind(runs[0].plan, Source("threshold", source.name, source.read_bytes())).value
    if plan is None:
        return []
    specs = spec_frame((cell.id, spec) for cell in plan.cells for spec in cell.specs)
    owner = polars.col("cell").alias("owner")
    verdicts = [judged(specs, measurements(_valid(run.result)).select(owner, "metric", "value")) for run in runs]
    failed = polars.concat(verdicts).filter(polars.col("status") == Status.FAIL.value)
    counts = failed.group_by("owner", "metric", maintain_order=True).len()
    return [f"{owner} {metric}: fails in {count} of {len(runs)} runs" for owner, metric, count in counts.rows()]


def _valid(result: RunResult) -> RunResult:
    return evolve(result, cells=tuple(cell for cell in result.cells if cell.state is CellState.VALID), blocks=())
