"""Cells that a config writes as keys, in canonical form."""

from __future__ import annotations

from collections.abc import Mapping

from .job import Job, put
from .thresholds import canonical_key

__all__ = ["modern_cells"]


def modern_cells(job: Job) -> Job:
    """The job with the keys of `sweeps` and `runs` in canonical form, at the top and in profiles."""
    changed: list[tuple[str, str]] = []
    for path, body in job.bodies.items():
        for name in ("sweeps", "runs"):
            new = _renamed(body.get(name), changed)
            if new is not None:
                job = job.with_value(put(job.value, (*path, name), new))
    if not changed:
        return job
    old, new_key = changed[0]
    many = f"{len(changed)} cell key{'s' if len(changed) > 1 else ''}"
    return job.with_value(job.value, f"{many} in canonical form: {old} -> {new_key}")


def _renamed(cells: object, changed: list[tuple[str, str]]) -> object | None:
    """`cells` (an object by key, or a list of keys) with canonical keys; None if there is nothing to change."""
    keys = [key for key in cells if isinstance(key, str)] if isinstance(cells, Mapping | list) else []
    names = {key: canonical_key(key) for key in keys if not key.startswith("_")}
    odd = [(key, name) for key, name in names.items() if key != name]
    if not odd:
        return None
    changed += odd
    if isinstance(cells, Mapping):
        return {names.get(key, key): item for key, item in cells.items()}
    assert isinstance(cells, list)
    return [names.get(key, key) if isinstance(key, str) else key for key in cells]
