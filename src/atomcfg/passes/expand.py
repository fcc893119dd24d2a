"""The sweep becomes ordered cells with ids and keys."""

from __future__ import annotations

from atomcfg.cellkey import CellKey
from atomcfg.diagnostics import Checked, Diagnostics, Related
from atomcfg.drivers import DRIVERS
from atomcfg.drivers.base import Driver
from atomcfg.model import Run, Settings
from atomcfg.values import as_text

from .states import Built, Expanded, PlannedCell, StatedKey

__all__ = ["expand"]


def expand(built: Built) -> Checked[Expanded]:
    """One cell per run, in the order stated. Ids are `<combo>-conc<N>`, keys always carry PP."""
    found = Diagnostics()
    settings = built.settings
    driver = DRIVERS[settings.params.driver]
    if not settings.runs:
        span = settings.document.span(("sweep",), key=True)
        hint = "add entries to sweep.runs, or keys like ISL=1024,OSL=1024,TP=8,PP=1,CONC=128 to sweeps"
        found.error("A706", "there are no cells", span, hint)
    ratio = float(settings.params.random_range_ratio)
    cells = tuple(_cell(settings, driver, run, ratio) for run in settings.runs)
    _check_stated(settings, built.enlisted.flat.stated_keys, found)
    _check_unique(settings, cells, found)
    _check_lengths(settings, driver, cells, found)
    _check_prompts(settings, found)
    _check_needles(settings, found)
    return Checked.of(Expanded(built, cells), found)


def _cell(settings: Settings, driver: Driver, run: Run, ratio: float) -> PlannedCell:
    params, combo = settings.params, run.combo
    key = CellKey(combo.isl, combo.osl, params.tensor_parallelism, params.pipeline_parallel_size, run.concurrency)
    reads, writes = driver.lengths(combo.isl, ratio), driver.lengths(combo.osl, ratio)
    prefix = params.random_prefix_len
    return PlannedCell(
        id=f"{combo.name}-conc{run.concurrency}",
        key=key,
        run=run,
        input_range=(reads.low + prefix, reads.high + prefix),
        output_range=(writes.low, writes.high),
    )


def _check_stated(settings: Settings, stated: tuple[StatedKey, ...], found: Diagnostics) -> None:
    params = settings.params
    for item in stated:
        for name, written, actual, field in (
            ("TP", item.key.tp, params.tensor_parallelism, "tensor parallelism"),
            ("PP", item.key.pp, params.pipeline_parallel_size, "pipeline parallelism"),
        ):
            if written != actual:
                hint = f"write {name}={actual} in the key, or change the parameter"
                summary = f"the key says {name}={written}, the {field} is {actual}"
                found.error("A708", summary, settings.document.span(item.path), hint)


def _check_unique(settings: Settings, cells: tuple[PlannedCell, ...], found: Diagnostics) -> None:
    seen: dict[CellKey, PlannedCell] = {}
    for cell in cells:
        first = seen.setdefault(cell.key, cell)
        if first is not cell:
            span = settings.document.span(cell.run.path)
            related = [Related("the other", settings.document.span(first.run.path))]
            hint = "one number would be judged twice; remove one of them"
            found.error("A709", f"{cell.id} and {first.id} have one key, {cell.key}", span, hint, related)


def _check_lengths(settings: Settings, driver: Driver, cells: tuple[PlannedCell, ...], found: Diagnostics) -> None:
    limit = settings.params.max_model_length
    reported: set[str] = set()
    for cell in cells:
        combo = cell.run.combo
        total = combo.isl + combo.osl
        if combo.name in reported:
            continue
        worst = cell.input_range[1] + cell.output_range[1]
        if total > limit:
            reported.add(combo.name)
            summary = f"{cell.id}: {combo.isl} + {combo.osl} tokens are over max_model_length {limit}"
            hint = f"raise max_model_length to at least {total}, or shorten the combo"
            found.error("A710", summary, settings.document.span(cell.run.path), hint)
        elif worst > limit or (driver.strict_length and worst == limit):
            reported.add(combo.name)
            share = _share_over(cell, limit, driver.strict_length)
            summary = (
                f"{cell.id}: up to {worst} tokens a request at random_range_ratio "
                f"{settings.params.random_range_ratio}, over max_model_length {limit}: {share} of the requests"
            )
            hint = f"raise max_model_length to {worst + driver.strict_length}, or change the ratio"
            found.warning("A711", summary, settings.document.span(cell.run.path), hint)


def _share_over(cell: PlannedCell, limit: int, strict: bool) -> str:
    """The share of (input, output) pairs, each uniform in its range, whose sum is over the limit."""
    low_in, high_in = cell.input_range
    low_out, high_out = cell.output_range
    width = high_out - low_out + 1
    over = 0
    bound = limit - 1 if strict else limit
    for tokens in range(low_in, high_in + 1):
        over += min(max(tokens + high_out - bound, 0), width)
    share = over / ((high_in - low_in + 1) * width)
    return f"{share:.0%}" if share >= 0.01 else "less than 1%"


def _check_prompts(settings: Settings, found: Diagnostics) -> None:
    prompts = settings.params.num_prompts
    short = [run for run in settings.runs if run.concurrency > prompts]
    if short:
        names = ", ".join(f"{run.combo.name}-conc{run.concurrency}" for run in short[:3])
        more = f" and {len(short) - 3} more" if len(short) > 3 else ""
        summary = f"num_prompts {prompts} is less than the concurrency of {names}{more}"
        span = settings.document.span((*short[0].path, "concurrency"))
        found.warning("A712", summary, span, "that concurrency is never reached; raise num_prompts")


def _check_needles(settings: Settings, found: Diagnostics) -> None:
    for index, needle in enumerate(settings.long_context):
        if needle.isl + needle.osl > settings.params.max_model_length:
            span = settings.document.span(("long_context_accuracy", "cells", index))
            limit = as_text(settings.params.max_model_length)
            summary = f"{needle.id}: {needle.isl} + {needle.osl} tokens are over max_model_length {limit}"
            found.warning("A713", summary, span, "this needle cell is not run")
