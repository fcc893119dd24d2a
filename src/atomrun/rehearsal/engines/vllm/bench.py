"""`vllm bench serve`."""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import random
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from aiohttp import ClientSession

from standin.artifact import leave
from standin.console import client_banner, say
from standin.dialect import Json
from standin.environment import from_environment
from standin.faults import Faults
from standin.flags import add_flags
from standin.goodput import objectives
from standin.load import Prompt, Shot, Traffic, volley
from standin.progress import Progress
from standin.stream import get_json, get_text, post, read_completion, session
from standin.words import count, random_words

from .bench_flags import BENCH
from .command_line import FlexibleParser, prepare
from .results import Measured, report

__all__ = ["bench_arguments", "bench_serve"]

_DETAILS = ("input_lens", "output_lens", "ttfts", "itls", "start_times", "generated_texts", "errors")
_COUNTER = re.compile(r'^vllm:spec_decode_num_(\w+)_total\{(?:.*position="(\d+)")?.*\} (\S+)$', re.MULTILINE)


def bench_arguments(argv: Sequence[str]) -> argparse.Namespace:
    """What follows `bench serve`, read as vLLM reads it; ends the program as argparse does."""
    parser = FlexibleParser(
        prog="vllm bench serve",
        usage="vllm bench serve [options]",
        description="Benchmark the online serving throughput.",
    )
    add_flags(parser, BENCH)
    return parser.parse_args(prepare(parser, argv))


def bench_serve(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Run the benchmark; the exit code."""
    args = bench_arguments(argv)
    faults = from_environment(Faults, "STANDIN_FAULT_", env)
    client_banner("benchmark client")
    say(str(args))
    if args.dataset_name != "random":
        raise ValueError(f"stand-in: only the dataset random is known, not {args.dataset_name}")
    result = asyncio.run(_benchmark(args))
    if args.save_result or args.append_result:
        _save(args, result, faults)
    return faults.client_exit


def _prompts(args: argparse.Namespace) -> list[Prompt]:
    """Lengths are uniform in [L(1-r), L(1+r)]: a ratio of 0 means the full length."""
    rng = random.Random(args.seed)  # noqa: S311 - load, not secrets
    ratio = json.loads(args.random_range_ratio)
    of_input, of_output = (ratio["input"], ratio["output"]) if isinstance(ratio, dict) else (ratio, ratio)
    prefix = random_words(rng, args.random_prefix_len)
    prompts = []
    for _ in range(args.num_prompts):
        length = _draw(rng, args.input_len or args.random_input_len, of_input)
        output = _draw(rng, args.output_len or args.random_output_len, of_output)
        text = f"{prefix} {random_words(rng, length)}".strip()
        prompts.append(Prompt(text, args.random_prefix_len + length, output))
    return prompts


def _draw(rng: random.Random, length: int, ratio: float) -> int:
    if not 0.0 <= ratio < 1.0:
        raise ValueError("range_ratio must be in [0, 1).")
    return rng.randint(max(1, math.floor(length * (1 - ratio))), math.ceil(length * (1 + ratio)))


async def _benchmark(args: argparse.Namespace) -> dict[str, Json]:
    slos = objectives(args.goodput)
    percents = [float(text) for text in args.metric_percentiles.split(",")]
    metrics = (args.percentile_metrics or "ttft,tpot,itl").split(",")
    base = args.base_url or f"http://{args.host}:{args.port}"
    traffic = Traffic(args.request_rate, args.burstiness, args.max_concurrency, args.seed)
    async with session() as http:
        if args.model is None:
            say("Model not specified, fetching first model from server...")
            args.model = await _first_model(http, base)

        async def send(prompt: Prompt) -> Shot:
            return await post(http, base + args.endpoint, _payload(args, prompt), read_completion)

        prompts = _prompts(args)
        await _warm_up(args, prompts[0], send)
        before = await get_text(http, f"{base}/metrics")
        _print_traffic(args)
        shots, seconds = await volley(prompts, traffic, send, Progress(len(prompts), not args.disable_tqdm))
        after = await get_text(http, f"{base}/metrics")
    for shot, prompt in zip(shots, prompts, strict=True):
        # Without a usage frame the client counts for itself.
        shot.prompt_tokens = shot.prompt_tokens or prompt.tokens
        shot.output_tokens = shot.output_tokens or count(shot.text)
    _print_failures(shots)
    return report(Measured(shots, seconds, traffic, _speculation(before, after)), metrics, percents, slos)


async def _first_model(http: ClientSession, base: str) -> str:
    listed = await get_json(http, f"{base}/v1/models")
    if not listed:
        raise ValueError(f"No models found on the server at {base}.")
    return str(listed["data"][0]["id"])


async def _warm_up(args: argparse.Namespace, prompt: Prompt, send: Callable[[Prompt], Awaitable[Shot]]) -> None:
    if args.temperature is None:
        say(
            "WARNING: vllm bench serve no longer sets temperature==0 (greedy) in requests by default. The default "
            "will be determined on the server side and can be model/API specific. For the old behavior, include "
            "--temperature=0."
        )
    say("Starting initial single prompt test run...")
    if args.ready_check_timeout_sec > 0:
        first = await send(prompt)
        if not first.ok:
            raise ValueError(
                "Initial test run failed - Please make sure benchmark arguments are correctly specified. "
                f"Error: {first.error}"
            )
        say("Initial test run completed.")
    else:
        say("Skipping endpoint ready check.")
    if args.num_warmups > 0:
        say(f"Warming up with {args.num_warmups} requests...")
        at_once = Traffic(float("inf"), 1.0, args.max_concurrency, args.seed)
        await volley([prompt] * args.num_warmups, at_once, send, Progress(args.num_warmups, not args.disable_tqdm))
        say("Warmup run completed.")


def _print_traffic(args: argparse.Namespace) -> None:
    say("Starting main benchmark run...")
    say(f"Traffic request rate: {args.request_rate}")
    kind = "Poisson process" if args.burstiness == 1.0 else "Gamma distribution"
    say(f"Burstiness factor: {args.burstiness} ({kind})")
    say(f"Maximum request concurrency: {args.max_concurrency}")


def _print_failures(shots: Sequence[Shot]) -> None:
    failed = [shot for shot in shots if not shot.ok]
    if failed:
        say("Failed requests during benchmark run detected (capping to 10):")
    for number, shot in enumerate(failed[:10]):
        say(f"Error {number}: {shot.error}")
    say("tip: install termplotlib and gnuplot to plot the metrics")


def _payload(args: argparse.Namespace, prompt: Prompt) -> dict[str, Json]:
    chat = args.backend == "openai-chat"
    said: dict[str, Json] = {"prompt": prompt.text}
    if chat:
        said = {"messages": [{"role": "user", "content": [{"type": "text", "text": prompt.text}]}]}
    sampling = {"temperature": args.temperature, "top_p": args.top_p, "top_k": args.top_k, "min_p": args.min_p}
    return {
        "model": args.served_model_name or args.model,
        **said,
        "max_completion_tokens" if chat else "max_tokens": prompt.output_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
        # The random dataset asks for it by itself.
        "ignore_eos": True,
        **{name: value for name, value in sampling.items() if value is not None},
        **(args.extra_body or {}),
    }


def _speculation(before: str, after: str) -> dict[str, Json]:
    """The `spec_decode_*` fields from two readings of /metrics; nothing without speculation."""
    old, new = _counters(before), _counters(after)
    counts = {name: value - old.get(name, 0.0) for name, value in new.items()}
    drafts, drafted = counts.get("drafts", 0.0), counts.get("draft_tokens", 0.0)
    if not drafts or not drafted:
        return {}
    accepted = counts["accepted_tokens"]
    positions = sorted(name for name in counts if name.startswith("accepted_tokens_per_pos."))
    return {
        "spec_decode_acceptance_rate": accepted / drafted * 100,
        "spec_decode_acceptance_length": 1 + accepted / drafts,
        "spec_decode_num_drafts": int(drafts),
        "spec_decode_draft_tokens": int(drafted),
        "spec_decode_accepted_tokens": int(accepted),
        "spec_decode_per_position_acceptance_rates": [counts[name] / drafts for name in positions],
    }


def _counters(text: str) -> dict[str, float]:
    return {f"{name}.{place}" if place else name: float(value) for name, place, value in _COUNTER.findall(text)}


def _save(args: argparse.Namespace, result: dict[str, Json], faults: Faults) -> None:
    date = datetime.now().strftime("%Y%m%d-%H%M%S")
    record: dict[str, Json] = {
        "date": date,
        "endpoint_type": args.backend,
        "backend": args.backend,
        "label": args.label,
        "model_id": args.model,
        "tokenizer_id": args.tokenizer or args.model,
        "num_prompts": args.num_prompts,
        **dict(_metadata(args.metadata)),
        "request_rate": args.request_rate if args.request_rate < float("inf") else "inf",
        "burstiness": args.burstiness,
        "max_concurrency": args.max_concurrency,
        **result,
    }
    if not args.save_detailed:
        record = {key: value for key, value in record.items() if key not in _DETAILS}
    limit = "" if args.max_concurrency is None else f"-concurrency{args.max_concurrency}"
    name = f"{args.label or args.backend}-{args.request_rate}qps{limit}-{args.model.split('/')[-1]}-{date}.json"
    folder = Path(args.result_dir or "")
    folder.mkdir(parents=True, exist_ok=True)
    leave(folder / (args.result_filename or name), record, faults, append=args.append_result)


def _metadata(pairs: Sequence[str] | None) -> list[tuple[str, str]]:
    for pair in pairs or ():
        if "=" not in pair:
            raise ValueError("Invalid metadata format. Please use KEY=VALUE format.")
    return [(key.strip(), value.strip()) for key, _, value in (pair.partition("=") for pair in pairs or ())]
