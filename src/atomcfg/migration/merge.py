"""Siblings of one model become profiles of one file: what all have in common stands at the top level."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from attrs import frozen

from atomcfg.diagnostics import Diagnostics, Related, Span
from atomcfg.dialect import FLAT, dialect_of

from .job import Job, Table

__all__ = ["Group", "group", "merged_config", "merged_thresholds"]

# What a stem ends with when it names a variant of a job; `single` says only that there is one node.
_VARIANT = re.compile(r"single|mtp\d*|accuracy|baseline|sweep|longctx|quality|smoke")
_PERF = "perf"
_TOP_ONLY = ("$schema", "schema_version", "framework")
_EARLY = ("gpu_arch", "enforce_thresholds")


@frozen
class Group:
    """Jobs that become one file: its stem, and the job of each profile, `perf` first."""

    stem: str
    members: Mapping[str, Job]

    @property
    def threshold_json(self) -> str:
        return f"{self.stem}_threshold.json"


def group(jobs: Sequence[Job], found: Diagnostics) -> tuple[Group, ...]:
    """The groups of at least two: siblings share base stem, driver, model and node count, and have no profiles."""
    alike: dict[tuple[object, ...], list[tuple[str, Job]]] = {}
    for job in jobs:
        if dialect_of(job.value) == FLAT:
            base, profile = _split(job.config.stem)
            plan = job.plans[_PERF]
            key = (base, plan.driver, plan.model.id, plan.topology.nnodes)
            alike.setdefault(key, []).append((profile, job))
    return tuple(_group(str(base), members, found) for (base, *_), members in alike.items() if len(members) > 1)


def _split(stem: str) -> tuple[str, str]:
    """The base of a stem, and the profile that the rest of it names."""
    words = stem.split("_")
    variant: list[str] = []
    while len(words) > 1 and _VARIANT.fullmatch(words[-1]):
        variant.insert(0, words.pop())
    return "_".join(words), "_".join(word for word in variant if word != "single") or _PERF


def _group(base: str, named: Sequence[tuple[str, Job]], found: Diagnostics) -> Group:
    members: dict[str, Job] = {}
    for profile, job in sorted(named, key=lambda item: (item[0] != _PERF, item[0])):
        if profile in members:
            first = Related("the other", Span(members[profile].config.name))
            summary = f'two files would become the profile "{profile}" of {base}'
            found.error("A912", summary, Span(job.config.name), "migrate one of them by itself", [first])
        members.setdefault(profile, job)
    return Group(members[_PERF].config.stem if _PERF in members else base, members)


def merged_config(merged: Group) -> dict[str, object]:
    """The config with profiles."""
    bodies = {name: _body(job.value) for name, job in merged.members.items()}
    common = _common(list(bodies.values()))
    head: dict[str, object] = {"schema_version": 2, "framework": "atom"}
    if _PERF in bodies:
        head["default_profile"] = _PERF
    head |= {key: common[key] for key in _EARLY if key in common}
    head["threshold_json"] = merged.threshold_json
    return {**head, **common, "profiles": {name: _rest(body, common) for name, body in bodies.items()}}


def merged_thresholds(merged: Group, tables: Mapping[str, Table]) -> dict[str, object]:
    """The threshold file of `merged_config`: the bounds of each profile, as its own file had them."""
    return {"profiles": {name: _bounds(job, tables) for name, job in merged.members.items()}}


def _body(value: Mapping[str, object]) -> dict[str, object]:
    return {key: item for key, item in value.items() if key not in (*_TOP_ONLY, "threshold_json")}


def _bounds(job: Job, tables: Mapping[str, Table]) -> object:
    place = job.place(_PERF, tables)
    if place is None:
        return {}
    table, path = place
    here: object = table.value
    for step in path:
        here = here.get(step, {}) if isinstance(here, dict) else {}
    return {key: item for key, item in here.items() if key != "$schema"} if isinstance(here, dict) else {}


def _common(values: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """What all of `values` say, to any depth; lists are the same or not."""
    first, *others = values
    made: dict[str, object] = {}
    for key, item in first.items():
        theirs = [other[key] for other in others if key in other]
        if len(theirs) < len(others):
            continue
        if all(_same(item, their) for their in theirs):
            made[key] = item
            continue
        objects = [each for each in (item, *theirs) if isinstance(each, dict)]
        inner = _common(objects) if len(objects) == len(values) else {}
        if inner:
            made[key] = inner
    return made


def _rest(value: Mapping[str, object], common: Mapping[str, object]) -> dict[str, object]:
    """What `value` says beyond `common`, which is part of it."""
    made: dict[str, object] = {}
    for key, item in value.items():
        if key not in common:
            made[key] = item
        elif not _same(item, common[key]):
            below = common[key]
            assert isinstance(item, dict)
            assert isinstance(below, dict)
            made[key] = _rest(item, below)
    return made


def _same(one: object, other: object) -> bool:
    """Equal as JSON: `true` is not `1`, `"8"` is not `8`; the order of keys does not count."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
