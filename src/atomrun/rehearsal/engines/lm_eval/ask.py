"""Asking the server, and reading its answers through a task's filters."""

from __future__ import annotations

import argparse
import asyncio
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aiohttp import ClientSession

from lm_eval.tasks import Document, Task
from standin.dialect import Json
from standin.stream import session

__all__ = ["Answered", "ask_all", "score"]

_INVALID = "[invalid]"


@dataclass(frozen=True)
class Answered:
    """One question with the server's answer."""

    number: int
    document: Document
    prompt: str
    settings: Mapping[str, Json]
    answer: str


async def ask_all(task: Task, documents: Sequence[Document], args: argparse.Namespace) -> list[Answered]:
    """Ask every question, as many at a time as the model's arguments say. Raises aiohttp's errors."""
    gate = asyncio.Semaphore(int(args.model_args.get("num_concurrent", 1)))
    settings = {"max_gen_toks": task.tokens, "until": list(task.until), "temperature": 0.0, **args.gen_kwargs}
    async with session() as http:

        async def ask(number: int, document: Document) -> Answered:
            prompt = _prompt(task, document, args.num_fewshot)
            async with gate:
                answer = await _post(http, args, prompt, settings)
            return Answered(number, document, prompt, settings, answer)

        return list(await asyncio.gather(*(ask(number, document) for number, document in enumerate(documents))))


def score(task: Task, filter_name: str, metric: str, answered: Answered) -> tuple[str, float]:
    """What a filter finds in an answer, and whether it is right. `none` is the filter of a multiple choice."""
    target = answered.document.target
    if filter_name == "none":
        found = _choice(answered.answer)
        # The normalised metric differs now and then, as it does in reality.
        spared = metric == "acc_norm" and zlib.crc32(answered.prompt.encode()) % 16 == 0
        return found, float(found == target or spared)
    pattern = dict(task.filters)[filter_name]
    matches = re.findall(pattern, answered.answer)
    if not matches:
        return _INVALID, 0.0
    last = matches[-1] if filter_name == "flexible-extract" else matches[0]
    found = last if isinstance(last, str) else next(part for part in last if part)
    return found, float(found.strip(" .$,") == target)


def _choice(answer: str) -> str:
    found = re.search(r"\(([A-J])\)", answer)
    return found.group(1) if found else _INVALID


def _prompt(task: Task, document: Document, fewshot: int | None) -> str:
    examples = task.all_documents()[: task.fewshot if fewshot is None else fewshot]
    shots = [f"{one.prompt} {one.shown}" for one in examples]
    return "\n\n".join([*shots, document.prompt])


async def _post(http: ClientSession, args: argparse.Namespace, prompt: str, settings: Mapping[str, Json]) -> str:
    chat = args.model == "local-chat-completions"
    said: dict[str, Json] = {"messages": [{"role": "user", "content": prompt}]} if chat else {"prompt": prompt}
    body = {
        "model": args.model_args.get("model"),
        **said,
        "max_tokens": settings["max_gen_toks"],
        "temperature": settings["temperature"],
        "stop": settings["until"],
        "seed": args.seed[-1],
    }
    tries = int(args.model_args.get("max_retries", 3))
    while True:
        async with http.post(str(args.model_args["base_url"]), json=body) as response:
            if response.status == 200 or tries <= 1:
                response.raise_for_status()
                choice = (await response.json())["choices"][0]
                return str(choice["message"]["content"] if chat else choice["text"])
        tries -= 1
