"""The steps of a migration, in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from attrs import frozen

from atomcfg.diagnostics import Diagnostic, Diagnostics, Related, Span
from atomcfg.documents import Source, dotted
from atomcfg.pretty import pretty
from atomcfg.sources import Sources

from .cells import modern_cells
from .job import Job, Table, load_job, load_table, put
from .merge import Group, group, merged_config, merged_thresholds
from .rescale import rescaled
from .thresholds import TwoForOne, modern_thresholds

__all__ = ["Migration", "Written", "migrate"]


@frozen
class Written:
    """A file of the result: its name (without a folder), its text, the inputs it comes from, what was changed."""

    name: str
    text: str
    inputs: tuple[str, ...]
    changes: tuple[str, ...]


@frozen
class Migration:
    """The files to write; none if there were errors."""

    files: tuple[Written, ...]
    diagnostics: tuple[Diagnostic, ...]


def migrate(
    configs: Sequence[Sources],
    thresholds: Sequence[Source] = (),
    *,
    merge: bool = False,
    rescale_per_gpu: bool = False,
    user: str = "",
) -> Migration:
    """Configs with the threshold files that they name, and threshold files by themselves, in today's form.

    The result means what the inputs meant: it compiles to the same cells and bounds. `merge` folds siblings of one
    model into one file with profiles; `rescale_per_gpu` mends per-GPU floors that were set with TP as the divisor.
    An input that does not compile is an error. `user` is the local user's name.
    """
    found = Diagnostics()
    jobs, tables = _load(configs, thresholds, user, found)
    tables = dict(_modern(tables, found))
    if found.has_errors:
        return Migration((), found.items)
    return _rewritten([modern_cells(job) for job in jobs], tables, merge, rescale_per_gpu)


def _rewritten(jobs: Sequence[Job], tables: dict[str, Table], merge: bool, rescale_per_gpu: bool) -> Migration:
    wishes = Diagnostics()
    if rescale_per_gpu:
        tables = rescaled(jobs, tables, wishes)
    groups = group(jobs, wishes) if merge else ()
    if wishes.has_errors:
        return Migration((), wishes.items)
    clashes = Diagnostics()
    files = _gathered(_files(jobs, tables, groups), clashes)
    return Migration(() if clashes.has_errors else files, clashes.items)


def _load(
    configs: Sequence[Sources], thresholds: Sequence[Source], user: str, found: Diagnostics
) -> tuple[list[Job], dict[str, Table]]:
    jobs: list[Job] = []
    tables: dict[str, Table] = {}
    for sources in configs:
        loaded = load_job(sources, user)
        found.extend(loaded.diagnostics)
        if loaded.value is not None:
            jobs.append(loaded.value[0])
            tables.update((table.source.name, table) for table in loaded.value[1])
    for source in thresholds:
        if source.name not in tables:
            alone = load_table(source)
            found.extend(alone.diagnostics)
            if alone.value is not None:
                tables[source.name] = alone.value
    return jobs, tables


def _modern(tables: Mapping[str, Table], found: Diagnostics) -> Iterator[tuple[str, Table]]:
    for name, table in tables.items():
        try:
            value, changes = modern_thresholds(table.value)
        except TwoForOne as fault:
            span = Span(name, path=dotted(fault.path))
            found.error("A913", f"two keys would become {fault.name}", span, "keep one of the two")
        else:
            yield name, table.with_value(value, *changes)


def _files(jobs: Iterable[Job], tables: Mapping[str, Table], groups: Iterable[Group]) -> Iterator[Written]:
    folded: set[str] = set()
    kept = set(tables)
    for merged in groups:
        yield from _merged(merged, tables)
        folded |= {job.config.name for job in merged.members.values()}
        kept -= {name for job in merged.members.values() for name in job.tables.values()}
    for job in jobs:
        if job.config.name not in folded:
            yield _config(job)
            kept |= set(job.tables.values())
    for name in tables:
        if name in kept:
            table = tables[name]
            yield Written(_base(name), pretty(table.value), (name,), table.changes)


def _config(job: Job) -> Written:
    """The config; its threshold files will lie beside it."""
    value, changes = job.value, list(job.changes)
    for path, body in job.bodies.items():
        stated = body.get("threshold_json")
        if isinstance(stated, str) and _base(stated) != stated:
            value = put(value, (*path, "threshold_json"), _base(stated))
            changes.append(f"its threshold file lies beside it: {stated} -> {_base(stated)}")
    return Written(_base(job.config.name), pretty(value), (job.config.name,), tuple(changes))


def _merged(merged: Group, tables: Mapping[str, Table]) -> Iterator[Written]:
    members = merged.members.items()
    names = [f"profile {profile} from {_base(job.config.name)}" for profile, job in members]
    changes = [change for _, job in members for change in job.changes]
    inputs = tuple(job.config.name for _, job in members)
    yield Written(f"{merged.stem}.json", pretty(merged_config(merged)), inputs, (*names, *changes))
    files = tuple(dict.fromkeys(name for _, job in members for name in job.tables.values()))
    changes = [f"{_base(name)}: {change}" for name in files for change in tables[name].changes]
    yield Written(merged.threshold_json, pretty(merged_thresholds(merged, tables)), files, tuple(changes))


def _gathered(files: Iterable[Written], found: Diagnostics) -> tuple[Written, ...]:
    """The files, unless two inputs would become one."""
    made: dict[str, Written] = {}
    for file in files:
        other = made.setdefault(file.name, file)
        if other is not file:
            place = Span(file.inputs[0] if file.inputs else file.name)
            first = Related("the other", Span(other.inputs[0] if other.inputs else other.name))
            summary = f"two inputs would be written as {file.name}"
            found.error("A914", summary, place, "migrate them into two folders", [first])
    return tuple(made.values())


def _base(name: str) -> str:
    return name.replace("\\", "/").rsplit("/", 1)[-1]
