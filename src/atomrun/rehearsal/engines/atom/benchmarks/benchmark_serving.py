"""ATOM's benchmark client: `python -m atom.benchmarks.benchmark_serving --model M --dataset-name random ...`."""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from atom.flags import CLIENT
from atom.results import Measured, report
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

_DETAILS = ("input_lens", "output_lens", "ttfts", "itls", "generated_texts", "errors")
_TEMPLATE = ("<|User|>", "<|Assistant|>")  # two tokens around the prompt
# The real client builds a second record from these after its file is written, and fails if one is missing.
_WANTED_AFTERWARDS = [f"{stat}_{metric}_ms" for metric in ("ttft", "tpot", "itl") for stat in ("median", "p99")]


def arguments(argv: Sequence[str]) -> argparse.Namespace:
    """The command line, read as ATOM reads it; ends the program as argparse does."""
    parser = argparse.ArgumentParser(
        prog="benchmark_serving.py", description="Benchmark the online serving throughput."
    )
    add_flags(parser, CLIENT, both_spellings=True)
    return parser.parse_args(argv)


def main(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Run the benchmark; the exit code."""
    args = arguments(argv)
    faults = from_environment(Faults, "STANDIN_FAULT_", env)
    args.tokenizer = args.tokenizer or args.model
    client_banner("benchmark client")
    say(str(args))
    if args.dataset_name != "random":
        raise ValueError(f"Unknown dataset: {args.dataset_name}")
    prompts = _prompts(args)
    _print_lengths(prompts)
    result = asyncio.run(_benchmark(args, prompts))
    if args.save_result:
        _save(args, result, faults)
    return faults.client_exit


def _prompts(args: argparse.Namespace) -> list[Prompt]:
    """Lengths are uniform in [ratio x L, L]: a ratio of 1 means the full length."""
    rng = random.Random(args.seed)  # noqa: S311 - load, not secrets
    prefix = random_words(rng, args.random_prefix_len)
    around = len(_TEMPLATE) if args.use_chat_template else 0
    longest = args.random_input_len - around
    inputs = [rng.randint(int(longest * args.random_range_ratio), longest) for _ in range(args.num_prompts)]
    outputs = [
        rng.randint(int(args.random_output_len * args.random_range_ratio), args.random_output_len)
        for _ in range(args.num_prompts)
    ]
    prompts = []
    for length, output in zip(inputs, outputs, strict=True):
        text = f"{prefix} {random_words(rng, length)}".strip()
        if args.use_chat_template:
            text = f"{_TEMPLATE[0]} {text} {_TEMPLATE[1]}"
        prompts.append(Prompt(text, args.random_prefix_len + length + around, output))
    return prompts


def _print_lengths(prompts: Sequence[Prompt]) -> None:
    inputs, outputs = [one.tokens for one in prompts], [one.output_tokens for one in prompts]
    title = f"{'-' * 19}  Input/Output Length Statistics  {'-' * 19}"
    say(title)
    say(f" input_lens : {_extent(inputs)}  avg_token_mismatch=0.00  ")
    say(f" output_lens: {_extent(outputs)} ")
    say(f"{'-' * len(title)} \n")


def _extent(lengths: Sequence[int]) -> str:
    return f"min={min(lengths):<4d}  max={max(lengths):<4d}  mean={sum(lengths) / len(lengths):<7.2f}"


async def _benchmark(args: argparse.Namespace, prompts: Sequence[Prompt]) -> dict[str, Json]:
    slos = objectives(args.goodput)
    percents = [float(text) for text in args.metric_percentiles.split(",")]
    base = args.base_url or f"http://{args.host}:{args.port}"
    traffic = Traffic(args.request_rate, args.burstiness, args.max_concurrency, args.seed)
    async with session() as http:

        async def send(prompt: Prompt) -> Shot:
            return await post(http, base + args.endpoint, _payload(args, prompt), read_completion)

        await _warm_up(args, prompts[0], send)
        _print_traffic(args)
        progress = Progress(len(prompts), not args.disable_tqdm)
        say("Starting main benchmark run...")
        shots, seconds = await volley(prompts, traffic, send, progress)
        stats = await get_json(http, f"{base}/debug/mtp_stats")
    speculation = stats if stats and stats.get("enabled") else {}
    run = Measured(shots, [one.tokens for one in prompts], seconds, speculation)
    return report(run, args.percentile_metrics.split(","), percents, slos)


async def _warm_up(args: argparse.Namespace, prompt: Prompt, send: Callable[[Prompt], Awaitable[Shot]]) -> None:
    """Failures go unnoticed here, as in the real client."""
    say("Starting initial single prompt test run...")
    if args.num_warmups < 1:
        return
    say(f"Warming up with {args.num_warmups} requests...")
    at_once = Traffic(float("inf"), 1.0, args.max_concurrency, args.seed)
    await volley([prompt] * args.num_warmups, at_once, send, Progress(args.num_warmups, not args.disable_tqdm))
    say("Warmup completed.")


def _print_traffic(args: argparse.Namespace) -> None:
    say(f"Traffic request rate: {args.request_rate}")
    kind = "Poisson process" if args.burstiness == 1.0 else "Gamma distribution"
    say(f"Burstiness factor: {args.burstiness} ({kind})")
    say(f"Maximum request concurrency: {args.max_concurrency}")


def _payload(args: argparse.Namespace, prompt: Prompt) -> dict[str, Json]:
    said: dict[str, Json] = {"prompt": prompt.text}
    if args.backend == "openai-chat":
        said = {"messages": [{"role": "user", "content": prompt.text}]}
    return {
        "model": args.served_model_name or args.model,
        **said,
        "temperature": 0.0,
        "best_of": args.best_of,
        "max_tokens": prompt.output_tokens,
        "logprobs": args.logprobs,
        "stream": True,
        "stream_options": {"include_usage": True},
        "ignore_eos": args.ignore_eos,
    }


def _save(args: argparse.Namespace, result: dict[str, Json], faults: Faults) -> None:
    date = datetime.now().strftime("%Y%m%d-%H%M%S")
    record: dict[str, Json] = {
        "date": date,
        "backend": args.backend,
        "model_id": args.model,
        "tokenizer_id": args.tokenizer,
        "best_of": args.best_of,
        "num_prompts": args.num_prompts,
        **_metadata(args.metadata),
        "request_rate": args.request_rate if args.request_rate < float("inf") else "inf",
        "burstiness": args.burstiness,
        "max_concurrency": args.max_concurrency,
        **result,
    }
    if not args.save_detailed:
        record = {key: value for key, value in record.items() if key not in _DETAILS}
    limit = "" if args.max_concurrency is None else f"-concurrency{args.max_concurrency}"
    name = f"{args.backend}-{args.request_rate}qps{limit}-{args.model.split('/')[-1]}-{date}.json"
    leave(Path(args.result_dir or "") / (args.result_filename or name), record, faults)
    for key in _WANTED_AFTERWARDS:
        record[key]


def _metadata(pairs: Sequence[str] | None) -> dict[str, str]:
    found = {}
    for pair in pairs or ():
        if "=" not in pair:
            raise ValueError("Invalid metadata format. Please use KEY=VALUE format.")
        key, value = pair.split("=")[:2]
        found[key.strip()] = value.strip()
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
