"""`lm_eval --model local-completions --model_args ... --tasks ... --output_path ...`."""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from lm_eval.ask import ask_all
from lm_eval.flags import parse_arguments
from lm_eval.results import Evaluated, document, samples
from lm_eval.table import render
from lm_eval.tasks import Group, Task, find
from standin.console import client_banner, say, whisper
from standin.dialect import Json
from standin.environment import from_environment
from standin.faults import Faults
from standin.progress import Progress

__all__ = ["cli_evaluate", "main"]

_MODELS = ("local-completions", "local-chat-completions")


def main(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Evaluate; the exit code."""
    args = parse_arguments(argv)
    faults = from_environment(Faults, "STANDIN_FAULT_", env)
    client_banner("lm-eval")
    if args.model not in _MODELS:
        raise ValueError(f"Attempted to load model '{args.model}', but no model for this name found! (stand-in)")
    tasks, groups = _selected(args)
    began = time.perf_counter()
    _log("evaluator:236", f"Initializing {args.model} model, with arguments: {args.model_args}")
    done = [asyncio.run(_evaluate(task, args)) for task in tasks]
    result = document(done, groups, args, time.perf_counter() - began)
    if faults.client_dies:
        return faults.client_dies
    if args.output_path and not faults.no_artifact:
        _save(result, done, args, faults)
    _print(result, args)
    return faults.client_exit


def cli_evaluate() -> None:
    """The console script."""
    sys.exit(main(sys.argv[1:], os.environ))


def _selected(args: argparse.Namespace) -> tuple[list[Task], list[Group]]:
    """The tasks to run, those of groups included, and the groups. Raises `ValueError` as lm-eval does."""
    found = {name: find(name) for name in args.tasks}
    missing = ", ".join(name for name, entry in found.items() if entry is None)
    if missing:
        raise ValueError(f"Tasks not found: {missing}")
    _log("_cli.run:380", f"Selected Tasks: {args.tasks}")
    groups = [entry for entry in found.values() if isinstance(entry, Group)]
    inside = [task for group in groups for task in group.tasks]
    tasks = [entry for entry in found.values() if isinstance(entry, Task)]
    return list(dict.fromkeys([*tasks, *inside])), groups


async def _evaluate(task: Task, args: argparse.Namespace) -> Evaluated:
    if args.model == "local-chat-completions" and not task.generates:
        raise NotImplementedError(
            "Loglikelihood is not supported for chat completions. Consider using the completions API instead."
        )
    every = task.all_documents()
    chosen = every[: _limit(args.limit, len(every))]
    _log("api.task:434", f"Building contexts for {task.name} on rank 0...")
    progress = Progress(len(chosen), shown=True)
    answers = await ask_all(task, chosen, args)
    for _ in answers:
        progress.step()
    progress.close()
    return Evaluated(task, answers, len(every))


def _limit(limit: float | None, many: int) -> int:
    if limit is None:
        return many
    return int(limit) if limit >= 1 else math.ceil(many * limit)


def _save(result: dict[str, Json], done: Sequence[Evaluated], args: argparse.Namespace, faults: Faults) -> None:
    """Failing to write is only a warning, as in the real program."""
    _log("loggers.evaluation_tracker:247", "Saving results aggregated")
    date = datetime.now().isoformat().replace(":", "-")
    path = Path(args.output_path)
    if path.suffix == ".json":
        folder, file = path.parent, path.with_name(f"{path.stem}_{date}.json")
    else:
        folder = path / str(result["model_name_sanitized"])
        file = folder / f"results_{date}.json"
    text = json.dumps(result, indent=2, ensure_ascii=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text(text[: len(text) // 2] if faults.truncate else text, encoding="utf-8")
        for one in done if args.log_samples or args.predict_only else ():
            lines = "".join(line + "\n" for line in samples(one))
            (folder / f"samples_{one.task.name}_{date}.jsonl").write_text(lines, encoding="utf-8")
    except OSError as error:
        _log("loggers.evaluation_tracker:313", "Could not save results aggregated", "WARNING")
        _log("loggers.evaluation_tracker:314", repr(error))


def _print(result: dict[str, Json], args: argparse.Namespace) -> None:
    shown = {name: value for name, value in args.model_args.items() if name != "trust_remote_code"}
    say(
        f"{args.model} ({shown}), gen_kwargs: ({args.gen_kwargs}), limit: {args.limit}, "
        f"num_fewshot: {args.num_fewshot}, batch_size: {args.batch_size}"
    )
    say(render(result, "results"))
    if "groups" in result:
        say(render(result, "groups"))


def _log(place: str, text: str, level: str = "INFO") -> None:
    whisper(f"{time.strftime('%Y-%m-%d:%H:%M:%S')} {level:<8} [{place}] {text}")


if __name__ == "__main__":
    cli_evaluate()
