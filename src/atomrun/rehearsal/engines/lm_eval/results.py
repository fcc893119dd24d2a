"""lm-eval's result document and its sample lines."""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lm_eval import __version__
from lm_eval.ask import Answered, score
from lm_eval.tasks import Group, Task
from standin.artifact import MARK
from standin.dialect import Json

__all__ = ["Evaluated", "document", "samples"]

_NOTHING = "N/A"
_NAME_KEYS = ("peft", "delta", "pretrained", "model", "path", "engine")
_BYPASSED = 999


@dataclass(frozen=True)
class Evaluated:
    """One task with its answered questions; `original` is how many it has."""

    task: Task
    answers: Sequence[Answered]
    original: int


def document(
    done: Sequence[Evaluated], groups: Sequence[Group], args: argparse.Namespace, seconds: float
) -> dict[str, Json]:
    """The whole of `results_*.json`."""
    by_name = {one.task.name: one for one in done}
    results: dict[str, Json] = {name: _task_result(one, args.predict_only) for name, one in by_name.items()}
    averaged = {group.name: _group_result(group, by_name, args.predict_only) for group in groups}
    results |= averaged
    entries: list[Task | Group] = [*(one.task for one in done), *groups]
    name = _model_name(args.model_args)
    return {
        "results": results,
        **({"groups": averaged} if averaged else {}),
        "group_subtasks": {group.name: [task.name for task in group.tasks] for group in groups},
        "configs": {one.task.name: _config(one.task, args) for one in done},
        "versions": dict(sorted((entry.name, entry.version) for entry in entries)),
        "n-shot": dict(sorted((entry.name, _shots(entry, args)) for entry in entries)),
        "higher_is_better": {entry.name: dict.fromkeys(_metrics(entry), True) for entry in entries},
        "n-samples": {one.task.name: {"original": one.original, "effective": len(one.answers)} for one in done},
        "config": _settings(args),
        "git_hash": None,
        "date": time.time() - seconds,
        "pretty_env_info": "N/A (torch not installed)",
        "transformers_version": _NOTHING,
        "lm_eval_version": __version__,
        "upper_git_hash": None,
        "task_hashes": {one.task.name: _digest([answer.prompt for answer in one.answers]) for one in done},
        "model_source": args.model,
        "model_name": name,
        "model_name_sanitized": re.sub(r"[\"<>:/|\\?*\[\]]+", "__", name),
        "system_instruction": args.system_instruction,
        "system_instruction_sha": _digest(args.system_instruction) if args.system_instruction else None,
        "fewshot_as_multiturn": bool(args.apply_chat_template) or None,
        "chat_template": "" if args.apply_chat_template else None,
        "chat_template_sha": _digest("") if args.apply_chat_template else None,
        "total_evaluation_time_seconds": str(seconds),
        MARK: True,
    }


def samples(one: Evaluated) -> list[str]:
    """The lines of `samples_*.jsonl`: one per question and filter."""
    lines = []
    for filter_name in _filters(one.task):
        for answered in one.answers:
            found = {metric: score(one.task, filter_name, metric, answered) for metric in one.task.metrics}
            line = {
                "doc_id": answered.number,
                "doc": answered.document.fields,
                "target": answered.document.shown if one.task.shape == "sum" else answered.document.target,
                "arguments": {"gen_args_0": {"arg_0": answered.prompt, "arg_1": dict(answered.settings)}},
                "resps": [[answered.answer]],
                "filtered_resps": [found[one.task.metrics[0]][0]],
                "filter": filter_name,
                "metrics": list(one.task.metrics),
                "doc_hash": _digest(answered.document.fields),
                "prompt_hash": _digest(answered.prompt),
                "target_hash": _digest(answered.document.target),
                **{metric: right for metric, (_, right) in found.items()},
            }
            lines.append(json.dumps(line, ensure_ascii=False))
    return lines


def _task_result(one: Evaluated, predict_only: bool) -> dict[str, Json]:
    fields: dict[str, Json] = {"name": one.task.name, "alias": one.task.alias, "sample_len": len(one.answers)}
    for filter_name in _filters(one.task):
        if predict_only:
            fields |= {f"bypass,{filter_name}": _BYPASSED, f"bypass_stderr,{filter_name}": _NOTHING}
            continue
        for metric in one.task.metrics:
            right = [score(one.task, filter_name, metric, answered)[1] for answered in one.answers]
            fields[f"{metric},{filter_name}"] = sum(right) / len(right)
            fields[f"{metric}_stderr,{filter_name}"] = _standard_error(right)
    return fields


def _group_result(group: Group, done: Mapping[str, Evaluated], predict_only: bool) -> dict[str, Json]:
    members = [done[task.name] for task in group.tasks]
    total = sum(len(one.answers) for one in members)
    fields: dict[str, Json] = {"alias": group.name, "name": group.name, "sample_len": total}
    if predict_only:
        return fields
    counted = {}
    for key in [f"{metric},{name}" for name in _filters(group.tasks[0]) for metric in _metrics(group)]:
        metric, _, name = key.partition(",")
        parts = [(len(one.answers), _task_result(one, predict_only=False)) for one in members]
        fields[key] = sum(size * part[key] for size, part in parts) / total
        errors = [(size, part[f"{metric}_stderr,{name}"]) for size, part in parts]
        fields[f"{metric}_stderr,{name}"] = _pooled(errors, total)
        counted[key] = total
    return {**fields, "sample_count": counted}


def _pooled(errors: Sequence[tuple[int, Json]], total: int) -> Json:
    """The standard error of a mean of means; "N/A" if a member has none."""
    if any(error == _NOTHING for _, error in errors):
        return _NOTHING
    variance = sum((size - 1) * size * error**2 for size, error in errors) / (total - len(errors))
    return math.sqrt(variance / total)


def _standard_error(right: Sequence[float]) -> Json:
    many = len(right)
    if many < 2:
        return _NOTHING
    mean = sum(right) / many
    return math.sqrt(sum((value - mean) ** 2 for value in right) / (many - 1) / many)


def _filters(task: Task) -> list[str]:
    return [name for name, _ in task.filters] or ["none"]


def _metrics(entry: Task | Group) -> tuple[str, ...]:
    return entry.metrics if isinstance(entry, Task) else entry.tasks[0].metrics


def _shots(entry: Task | Group, args: argparse.Namespace) -> int:
    if args.num_fewshot is not None:
        return int(args.num_fewshot)
    return entry.fewshot if isinstance(entry, Task) else entry.tasks[0].fewshot


def _config(task: Task, args: argparse.Namespace) -> dict[str, Json]:
    generation: dict[str, Json] = {}
    if task.generates:
        until = {"until": list(task.until), "max_gen_toks": task.tokens, "do_sample": False, "temperature": 0.0}
        filters = [
            {"name": name, "filter": [{"function": "regex", "regex_pattern": pattern}, {"function": "take_first"}]}
            for name, pattern in task.filters
        ]
        generation = {"generation_kwargs": {**until, **args.gen_kwargs}, "filter_list": filters}
    return {
        "task": task.name,
        "task_alias": task.alias,
        "dataset_path": task.dataset,
        "unsafe_code": False,
        "description": "",
        "num_fewshot": _shots(task, args),
        "metric_list": [{"metric": name, "aggregation": "mean", "higher_is_better": True} for name in task.metrics],
        "output_type": "generate_until" if task.generates else "multiple_choice",
        "repeats": 1,
        **generation,
        "should_decontaminate": False,
        "metadata": {"version": task.version, **args.model_args, **(args.metadata or {})},
    }


def _settings(args: argparse.Namespace) -> dict[str, Json]:
    python, numpy, torch, fewshot = args.seed
    return {
        "model": args.model,
        "model_args": args.model_args,
        "batch_size": args.batch_size,
        "batch_sizes": [],
        "device": args.device,
        "use_cache": args.use_cache,
        "limit": args.limit,
        "bootstrap_iters": 100000,
        "gen_kwargs": args.gen_kwargs,
        "random_seed": python,
        "numpy_seed": numpy,
        "torch_seed": torch,
        "fewshot_seed": fewshot,
    }


def _model_name(model_args: Mapping[str, Json]) -> str:
    for key in _NAME_KEYS:
        if key in model_args:
            return str(model_args[key])
    return _digest(sorted(model_args))[:8]


def _digest(value: Json) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
