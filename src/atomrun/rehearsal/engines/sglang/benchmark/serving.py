"""SGLang's benchmark client: `python3 -m sglang.benchmark.serving`, by its old name `sglang.bench_serving`."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from aiohttp import ClientSession

from sglang.bench_flags import BENCH
from sglang.results import Measured, report
from standin.artifact import leave
from standin.console import client_banner, say
from standin.dialect import Json
from standin.environment import from_environment
from standin.faults import Faults
from standin.flags import add_flags
from standin.goodput import objectives
from standin.load import Prompt, Shot, Traffic, volley
from standin.progress import Progress
from standin.stream import get_json, post, read_completion, session
from standin.words import random_words

__all__ = ["arguments", "main"]

_NATIVE = {"sglang", "sglang-native"}
_PATHS = {"vllm-chat": "/v1/chat/completions", "sglang-oai-chat": "/v1/chat/completions"}
_WARMUP_TOKENS = 32  # at most


def arguments(argv: Sequence[str]) -> argparse.Namespace:
    """The command line, read as SGLang reads it; ends the program as argparse does."""
    parser = argparse.ArgumentParser(prog="serving.py", description="Benchmark the online serving throughput.")
    add_flags(parser, BENCH)
    return parser.parse_args(argv)


def main(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Run the benchmark; the exit code."""
    args = arguments(argv)
    faults = from_environment(Faults, "STANDIN_FAULT_", env)
    client_banner("benchmark client")
    say(f"benchmark_args={args}")
    if args.dataset_name not in {"random", "random-ids"}:
        raise ValueError(f"stand-in: only the dataset random is known, not {args.dataset_name}")
    args.port = args.port or (30000 if args.backend in _NATIVE else 8000)
    result = asyncio.run(_benchmark(args))
    lengths = f"{args.random_input_len}_{args.random_output_len}"
    name = f"{args.backend}_{time.strftime('%m%d')}_{args.num_prompts}_{lengths}.jsonl"
    leave(Path(args.output_file or name), result, faults, append=True)
    return faults.client_exit


async def _benchmark(args: argparse.Namespace) -> dict[str, Json]:
    base = args.base_url or f"http://{args.host}:{args.port}"
    async with session() as http:
        await _wait_for(http, f"{base}/v1/models", args.ready_check_timeout_sec)
        args.model = args.model or (await get_json(http, f"{base}/v1/models") or {"data": [{}]})["data"][0].get(
            "id"
        )
        say(f"{args}\n")
        prompts = _prompts(args)
        path = "/generate" if args.backend in _NATIVE else _PATHS.get(args.backend, "/v1/completions")

        async def send(prompt: Prompt) -> Shot:
            read = _read_native if args.backend in _NATIVE else _read_openai
            return await post(http, base + path, _payload(args, prompt), read)

        await _warm_up(args, prompts[0], send)
        traffic = Traffic(args.request_rate, 1.0, args.max_concurrency, args.seed)
        shots, seconds = await volley(prompts, traffic, send, Progress(len(prompts), not args.disable_tqdm))
        info = await get_json(http, f"{base}/server_info") if "sglang" in args.backend else None
    accepted = info["internal_states"][0]["avg_spec_accept_length"] if info else None
    for shot, prompt in zip(shots, prompts, strict=True):
        # Without a usage frame the client believes that it got what it asked for.
        shot.output_tokens = shot.output_tokens or (prompt.output_tokens if shot.ok else 0)
    lengths = [prompt.tokens for prompt in prompts]
    named = {name: getattr(args, name) for name in ("backend", "request_rate", "max_concurrency")}
    fields = report(Measured(shots, lengths, seconds, accepted), named, objectives(args.goodput))
    details = _details(shots, lengths) if args.output_details else {}
    return {**_asked(args), "server_info": info, **fields, **details}


def _details(shots: Sequence[Shot], lengths: Sequence[int]) -> dict[str, Json]:
    return {
        "input_lens": list(lengths),
        "output_lens": [shot.output_tokens for shot in shots],
        "ttfts": [shot.ttft for shot in shots],
        "itls": [[gap for gap, many in shot.gaps for _ in range(many)] for shot in shots],
        "generated_texts": [shot.text for shot in shots],
        "errors": [shot.error for shot in shots],
    }


async def _wait_for(http: ClientSession, url: str, timeout_s: float) -> None:
    if timeout_s <= 0:
        return
    say(f"Waiting up to {timeout_s}s for {url} to become ready...")
    began = time.perf_counter()
    while await get_json(http, url) is None:
        if time.perf_counter() - began >= timeout_s:
            say(f"Server did not become ready within {timeout_s}s timeout.")
            say(f"Server at {url} is not ready. Exiting.")
            raise SystemExit(1)
        await asyncio.sleep(min(1.0, timeout_s))
    say(f"Server ready in {time.perf_counter() - began:.1f}s.")


def _prompts(args: argparse.Namespace) -> list[Prompt]:
    """Lengths are uniform in [max(1, ratio x L), L]: a ratio of 1 means the full length."""
    rng = random.Random(args.seed)  # noqa: S311 - load, not secrets
    inputs = [_draw(rng, args.random_input_len, args.random_range_ratio) for _ in range(args.num_prompts)]
    outputs = [_draw(rng, args.random_output_len, args.random_range_ratio) for _ in range(args.num_prompts)]
    say(f"#Input tokens: {sum(inputs)}")
    say(f"#Output tokens: {sum(outputs)}")
    return [Prompt(random_words(rng, read), read, written) for read, written in zip(inputs, outputs, strict=True)]


def _draw(rng: random.Random, length: int, ratio: float) -> int:
    return rng.randint(max(1, int(length * ratio)), length)


async def _warm_up(args: argparse.Namespace, prompt: Prompt, send: Callable[[Prompt], Awaitable[Shot]]) -> None:
    """Fails the benchmark if every warm-up request fails."""
    say(f"Starting warmup with {args.warmup_requests} sequences...")
    short = replace(prompt, output_tokens=min(prompt.output_tokens, _WARMUP_TOKENS))
    at_once = Traffic(float("inf"), 1.0, args.max_concurrency, args.seed)
    shots, _ = await volley([short] * args.warmup_requests, at_once, send, Progress(args.warmup_requests, False))
    if shots and not any(shot.ok for shot in shots):
        raise ValueError(
            f"Warmup failed - Please make sure benchmark arguments are correctly specified. Error: {shots[0].error}"
        )
    say(f"Warmup completed with {args.warmup_requests} sequences. Starting main benchmark run...")


def _payload(args: argparse.Namespace, prompt: Prompt) -> dict[str, Json]:
    extra = json.loads(args.extra_request_body or "{}")
    if args.backend in _NATIVE:
        sampling = {"temperature": args.temperature, "max_new_tokens": prompt.output_tokens}
        sampling["ignore_eos"] = not args.disable_ignore_eos
        return {"text": prompt.text, "sampling_params": sampling, "stream": True, **extra}
    said: dict[str, Json] = {"prompt": prompt.text}
    if args.backend.endswith("-chat"):
        said = {"messages": [{"role": "user", "content": prompt.text}]}
    return {
        "model": args.served_model_name or args.model,
        **said,
        "temperature": args.temperature,
        "max_tokens": prompt.output_tokens,
        "stream": True,
        "ignore_eos": not args.disable_ignore_eos,
        **extra,
    }


def _read_native(shot: Shot, frame: Json, gap: float) -> bool:
    """A frame of /generate: the text so far, and how many tokens it is."""
    done = int(frame["meta_info"]["completion_tokens"])
    fresh = done - shot.output_tokens
    if fresh <= 0:
        return False
    if shot.ttft:
        shot.gaps.append((gap / fresh, fresh))
    shot.text, shot.output_tokens = frame["text"], done
    return True


def _read_openai(shot: Shot, frame: Json, gap: float) -> bool:
    """A frame of OpenAI's stream. Every frame must have a choice: the real client fails at ATOM's usage frame."""
    if not frame["choices"]:
        raise IndexError("list index out of range")
    return read_completion(shot, frame, gap)


def _asked(args: argparse.Namespace) -> dict[str, Json]:
    return {
        "tag": args.tag,
        "backend": args.backend,
        "dataset_name": args.dataset_name,
        # json.dumps writes an infinite rate as Infinity, as the real program's lines have it.
        "request_rate": args.request_rate,
        "max_concurrency": args.max_concurrency,
        "sharegpt_output_len": args.sharegpt_output_len,
        "random_input_len": args.random_input_len,
        "random_output_len": args.random_output_len,
        "random_range_ratio": args.random_range_ratio,
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
