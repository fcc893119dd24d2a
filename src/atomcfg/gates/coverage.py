"""Do the thresholds cover what they must, and can the client report what they bound?"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from atomcfg.diagnostics import Diagnostics, Related, Severity
from atomcfg.documents import JsonPath
from atomcfg.drivers import DRIVERS
from atomcfg.metrics import GATED, METRICS
from atomcfg.model import Settings
from atomcfg.passes.states import BoundSpec, Expanded
from atomcfg.suggest import counted, nearest

from .cells import CellGates
from .choose import Thresholds
from .divisor import floors_by_tp

__all__ = ["check_coverage"]

_SCALING = "scaling.efficiency_pct"


def check_coverage(
    expanded: Expanded,
    cells: CellGates,
    thresholds: Thresholds,
    found: Diagnostics,
) -> None:
    """Enforced: a missing entry or gated metric is an error; record-only: the same finding is a warning."""
    settings = expanded.built.settings
    driver = DRIVERS[settings.params.driver]
    able = {metric for metric in GATED if driver.produces(settings, metric)}
    _check_cells(expanded, cells.places, thresholds, found)
    _check_gated(expanded, cells.places, able, thresholds, found)
    _check_producible(cells.specs, driver.name, lambda metric: driver.produces(settings, metric), found)
    _check_scaling(expanded, cells.specs, found)
    _check_per_gpu(expanded, cells.specs, driver.data_parallel(settings), found)
    exempt = [metric for metric in GATED if metric not in able]
    if exempt and settings.enforce_thresholds:
        span = settings.document.span(("params", "driver"))
        names = ", ".join(exempt)
        found.note("A823", f"driver {driver.name}'s client does not report {names}: exempt", span)


def _check_cells(
    expanded: Expanded, places: Mapping[str, JsonPath], thresholds: Thresholds, found: Diagnostics
) -> None:
    """Every cell has an entry."""
    bare = [cell for cell in expanded.cells if cell.id not in places]
    if any(item.code == "A701" for item in found.items):
        return  # what is meant for them may stand under a key that cannot be read
    if bare:
        settings = expanded.built.settings
        more = f" and {len(bare) - 3} more" if len(bare) > 3 else ""
        names = ", ".join(str(cell.key) for cell in bare[:3]) + more
        summary = f"no thresholds for {len(bare)} of {counted(expanded.cells, 'cell')}: {names}"
        span = settings.document.span(bare[0].run.path)
        found.add("A821", _severity(settings), summary, span, f"add the keys to {thresholds.name}")


def _check_gated(
    expanded: Expanded,
    places: Mapping[str, JsonPath],
    able: set[str],
    thresholds: Thresholds,
    found: Diagnostics,
) -> None:
    """Every cell that has an entry has a spec for each gated metric that the client reports."""
    gaps: list[tuple[JsonPath, list[str]]] = []
    for cell in expanded.cells:
        place = places.get(cell.id)
        if place is not None:
            have = _stated(thresholds.document.get(*place))
            lacking = [metric for metric in GATED if metric in able and metric not in have]
            if lacking:
                gaps.append((place, lacking))
    if not gaps:
        return
    place, lacking = gaps[0]
    span = thresholds.document.span(place, key=True)
    every = [name for _, names in gaps for name in names]
    shown = ", ".join(lacking[:4]) + (f" and {len(lacking) - 4} more" if len(lacking) > 4 else "")
    summary = f"no spec for {counted(every, 'gated metric')} in {counted(gaps, 'cell')}; here: {shown}"
    related = [
        Related(f"and {len(names)} here", thresholds.document.span(other, key=True)) for other, names in gaps[1:4]
    ]
    severity = _severity(expanded.built.settings)
    found.add("A822", severity, summary, span, 'bound each, or state it as "info"', related)


def _stated(table: object) -> set[str]:
    """The metrics of a cell, right or wrong: one that is misspelt, or whose spec is wrong, is not missing too."""
    names = (
        [name.removeprefix("client.") for name in table if not name.startswith("_")]
        if isinstance(table, dict)
        else []
    )
    return {name if name in METRICS else nearest(name, METRICS) or name for name in names}


def _severity(settings: Settings) -> Severity:
    return Severity.ERROR if settings.enforce_thresholds else Severity.WARNING


def _check_producible(
    cells: Mapping[str, tuple[BoundSpec, ...]],
    driver: str,
    able: Callable[[str], bool],
    found: Diagnostics,
) -> None:
    unable: dict[str, list[BoundSpec]] = {}
    for specs in cells.values():
        for bound in specs:
            metric = bound.spec.metric
            if bound.spec.kind != "info" and not metric.startswith(("scaling.", "gpu.")) and not able(metric):
                unable.setdefault(metric, []).append(bound)
    if unable:
        first = next(iter(unable.values()))[0]
        span = first.document.span(first.path, key=True)
        count = sum(len(bounds) for bounds in unable.values())
        many = f"{count} specs" if count > 1 else "its spec"
        summary = f"driver {driver}'s client may not report {', '.join(unable)}: {many} may be SKIPPED"
        found.warning("A824", summary, span, 'state them as "info", or remove them')


def _check_scaling(expanded: Expanded, cells: Mapping[str, tuple[BoundSpec, ...]], found: Diagnostics) -> None:
    settings = expanded.built.settings
    params = settings.params
    specs = [bound for bounds in cells.values() for bound in bounds if bound.spec.metric == _SCALING]
    if params.scaling_baseline_output_throughput is None:
        judged = [bound for bound in specs if bound.spec.kind != "info"]
        if judged:
            span = judged[0].document.span(judged[0].path, key=True)
            baseline = settings.document.called("params", "scaling_baseline_output_throughput")
            hint = f"write {baseline} (single-node output tok/s)"
            found.warning("A825", f"{_SCALING} has no baseline: not judged", span, hint)
    elif params.nnodes > 1 and not specs and cells:
        span = settings.document.span(("params", "scaling_baseline_output_throughput"))
        found.warning("A826", f"a scaling baseline, but no spec for {_SCALING}", span, "add one to the cells")


def _check_per_gpu(
    expanded: Expanded, cells: Mapping[str, tuple[BoundSpec, ...]], data_parallel: int, found: Diagnostics
) -> None:
    """Floors that CVS wrote with its divisor (TP alone): a healthy run on TP x PP GPUs would fail them."""
    params = expanded.built.settings.params
    gpus = params.tensor_parallelism * params.pipeline_parallel_size * data_parallel
    if gpus == params.tensor_parallelism:
        return
    suspects = []
    for specs in cells.values():
        bounds = {bound.spec.metric: bound for bound in specs if bound.spec.kind in ("min", "min_tok_s")}
        floors = {metric: bound.spec.value for metric, bound in bounds.items() if bound.spec.value is not None}
        suspects += [bounds[share] for share in floors_by_tp(floors, params.tensor_parallelism)]
    if suspects:
        span = suspects[0].document.span(suspects[0].path, key=True)
        many = counted(suspects, "per-GPU floor")
        summary = f"{many} divided by TP={params.tensor_parallelism}, the run has {gpus} GPUs"
        hint = f"divide them by {gpus // params.tensor_parallelism}; atomcfg migrate --rescale-per-gpu does it"
        found.warning("A827", summary, span, hint)
