"""Do the thresholds cover what they must, and can the client report what they bound?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from atomcfg.diagnostics import Diagnostics, Related, Severity
from atomcfg.documents import JsonPath
from atomcfg.drivers import DRIVERS
from atomcfg.metrics import GATED, METRICS
from atomcfg.model import Settings
from atomcfg.passes.states import BoundTable, Expanded
from atomcfg.plan import Spec
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
    _check_producible(
        cells.specs, cells.judged, driver.name, lambda metric: driver.produces(settings, metric), found
    )
    _check_scaling(expanded, cells.specs, cells.judged, found)
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
    lacking_of: dict[tuple[str, ...], list[str]] = {}
    for cell in expanded.cells:
        place = places.get(cell.id)
        if place is not None:
            table = thresholds.document.get(*place)
            names = tuple(table) if isinstance(table, dict) else ()
            if names not in lacking_of:  # the cells of a sweep have few layouts
                have = _stated(names)
                lacking_of[names] = [metric for metric in GATED if metric in able and metric not in have]
            if lacking_of[names]:
                gaps.append((place, lacking_of[names]))
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


def _stated(written: Iterable[str]) -> set[str]:
    """The metrics of a cell, right or wrong: one that is misspelt, or whose spec is wrong, is not missing too."""
    names = [name.removeprefix("client.") for name in written if not name.startswith("_")]
    return {name if name in METRICS else nearest(name, METRICS) or name for name in names}


def _severity(settings: Settings) -> Severity:
    return Severity.ERROR if settings.enforce_thresholds else Severity.WARNING


def _check_producible(
    cells: Mapping[str, BoundTable],
    judged: frozenset[str],
    driver: str,
    able: Callable[[str], bool],
    found: Diagnostics,
) -> None:
    doubtful = {name for name in judged if not name.startswith(("scaling.", "gpu.")) and not able(name)}
    if not doubtful:
        return
    unable = _places(cells, lambda spec: spec.metric in doubtful and spec.kind != "info")
    names = dict.fromkeys(table.specs[index].metric for table, index in unable)
    many = f"{len(unable)} specs" if len(unable) > 1 else "its spec"
    summary = f"driver {driver}'s client may not report {', '.join(names)}: {many} may be SKIPPED"
    first = min(unable, key=lambda place: list(names).index(place[0].specs[place[1]].metric))
    found.warning("A824", summary, first[0].span(first[1]), 'state them as "info", or remove them')


def _places(cells: Mapping[str, BoundTable], wanted: Callable[[Spec], bool]) -> list[tuple[BoundTable, int]]:
    return [(table, index) for table in cells.values() for index, spec in enumerate(table.specs) if wanted(spec)]


def _check_scaling(
    expanded: Expanded, cells: Mapping[str, BoundTable], judged: frozenset[str], found: Diagnostics
) -> None:
    settings = expanded.built.settings
    params = settings.params
    if params.scaling_baseline_output_throughput is None:
        if _SCALING in judged:
            table, index = _places(cells, lambda spec: spec.metric == _SCALING and spec.kind != "info")[0]
            span = table.span(index)
            baseline = settings.document.called("params", "scaling_baseline_output_throughput")
            hint = f"write {baseline} (single-node output tok/s)"
            found.warning("A825", f"{_SCALING} has no baseline: not judged", span, hint)
    elif params.nnodes > 1 and cells and not _places(cells, lambda spec: spec.metric == _SCALING):
        span = settings.document.span(("params", "scaling_baseline_output_throughput"))
        found.warning("A826", f"a scaling baseline, but no spec for {_SCALING}", span, "add one to the cells")


def _check_per_gpu(
    expanded: Expanded, cells: Mapping[str, BoundTable], data_parallel: int, found: Diagnostics
) -> None:
    """Floors that CVS wrote with its divisor (TP alone): a healthy run on TP x PP GPUs would fail them."""
    params = expanded.built.settings.params
    gpus = params.tensor_parallelism * params.pipeline_parallel_size * data_parallel
    if gpus == params.tensor_parallelism:
        return
    suspects = []
    for table in cells.values():
        floors = {
            spec.metric: (spec.value, index)
            for index, spec in enumerate(table.specs)
            if spec.kind in ("min", "min_tok_s") and spec.value is not None
        }
        values = {metric: value for metric, (value, _) in floors.items()}
        suspects += [(table, floors[share][1]) for share in floors_by_tp(values, params.tensor_parallelism)]
    if suspects:
        table, index = suspects[0]
        span = table.span(index)
        many = counted(suspects, "per-GPU floor")
        summary = f"{many} divided by TP={params.tensor_parallelism}, the run has {gpus} GPUs"
        hint = f"divide them by {gpus // params.tensor_parallelism}; atomcfg migrate --rescale-per-gpu does it"
        found.warning("A827", summary, span, hint)
