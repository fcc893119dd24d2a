"""lm-eval's `results_*.json` (0.4.x), projected to `<task>.<metric>__<filter>`.

Its output mixes numbers with "N/A", NaN and bookkeeping: only finite numbers are scores, everything else is listed
as dropped. A score without the filter's name is ambiguous and not used.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from attrs import frozen

from .layout import nearest
from .record import ArtifactError, Fault, Record, json_text, read_record

__all__ = ["Scores", "implausible", "parse"]

_BOOKKEEPING = frozenset({"alias", "name", "sample_len", "sample_count", "samples"})
_UNSCORED = "bypass"  # what `--predict_only` writes in place of a metric
_UNIFORM = 4  # so many tasks with one and the same score are no coincidence


@frozen
class Scores:
    """The scores of one results file. `samples` are (used, in the data set) by task; groups have none."""

    values: Mapping[str, float]
    dropped: Mapping[str, str]
    versions: Mapping[str, str]
    samples: Mapping[str, tuple[int, int]]
    lm_eval_version: str
    model: str


def parse(text: str) -> Scores:
    """The scores of a results file. Raises `ArtifactError`."""
    record = read_record(text)
    results = _objects(record, "results", required=True)
    values: dict[str, float] = {}
    dropped: dict[str, str] = {}
    for task, fields in results.items():
        for key in sorted(fields.keys() - _BOOKKEEPING):
            name, score = _score(task, key, fields[key])
            if isinstance(score, str):
                dropped[name] = score
            else:
                values[name] = score
    return Scores(
        values=values,
        dropped=dropped,
        versions={task: _word(version) for task, version in _object(record, "versions").items()},
        samples=_samples(_objects(record, "n-samples")),
        lm_eval_version=_word(record.get("lm_eval_version", "")),
        model=_word(record.get("model_name", "")),
    )


def implausible(scores: Scores) -> str:
    """Why the scores say more about the harness than about the model; "" if they may be real.

    Every score 0, or many tasks with one and the same score: answers were not read, or came from nowhere.
    """
    found = {name: value for name, value in scores.values.items() if "_stderr__" not in name}
    tasks = {name.rsplit(".", 1)[0] for name in found}
    if found and not any(found.values()):
        return "every score is 0: inspect the samples, the harness may not have read the answers"
    if len(tasks) >= _UNIFORM and len(set(found.values())) == 1:
        return f"{len(tasks)} tasks have one and the same score: inspect the samples"
    return ""


def _score(task: str, key: str, raw: object) -> tuple[str, float | str]:
    metric, comma, chosen = key.partition(",")
    if not comma:
        return f"{task}.{key}", "no filter is named"
    name = f"{task}.{metric}__{chosen}"
    if metric == _UNSCORED:
        return name, "nothing was scored (--predict_only)"
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        return name, f"not a number: {json_text(raw)[:60]}"
    return name, float(raw) if math.isfinite(raw) else f"not finite: {raw}"


def _object(record: Record, key: str) -> Record:
    found = record.get(key)
    return found if isinstance(found, dict) else {}


def _objects(record: Record, key: str, *, required: bool = False) -> Mapping[str, Record]:
    found = record.get(key)
    if required and not isinstance(found, dict):
        known = {"lm_eval_version", "n-samples", "versions", "configs"} & record.keys()
        raise ArtifactError(
            Fault.SCHEMA_CHANGED if known else Fault.WRONG_RECORD,
            f'no object "{key}" in the file, {nearest(key, record)}',
            "pin the lm-eval version that the plan names" if known else "another file was collected",
        )
    return {task: fields for task, fields in _object(record, key).items() if isinstance(fields, dict)}


def _samples(found: Mapping[str, Record]) -> dict[str, tuple[int, int]]:
    counted = {}
    for task, fields in found.items():
        used, original = fields.get("effective"), fields.get("original")
        if isinstance(used, int) and isinstance(original, int):
            counted[task] = (used, original)
    return counted


def _word(raw: object) -> str:
    return raw if isinstance(raw, str) else json_text(raw)
