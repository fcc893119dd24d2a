"""lm-eval's command line, version 0.4.12."""

from __future__ import annotations

import argparse
import ast
import json
from collections.abc import Mapping, Sequence
from typing import Any

from standin.flags import Flag, add_flags

__all__ = ["parse_arguments"]

_SEEDS = (0, 1234, 1234, 1234)
_FLAGS = (
    Flag("--config -C"),
    Flag("--tasks -t", "some"),
    Flag("--model -M", "text", "hf"),
    Flag("--model_args -a", "some"),
    Flag("--apply_chat_template", "maybe", False),
    Flag("--limit -L", "float"),
    Flag("--use_cache -c"),
    Flag("--num_fewshot -f", "int"),
    Flag("--batch_size -b", "text", "1"),
    Flag("--max_batch_size", "int"),
    Flag("--device"),
    Flag("--gen_kwargs", "some"),
    Flag("--output_path -o"),
    Flag("--log_samples -s", "switch"),
    Flag("--samples -E", "json"),
    Flag("--cache_requests", "maybe", None, ("true", "refresh", "delete")),
    Flag("--check_integrity", "switch"),
    Flag("--system_instruction"),
    Flag("--fewshot_as_multiturn", "maybe", False),
    Flag("--include_path"),
    Flag("--verbosity -v"),
    Flag("--write_out -w", "switch"),
    Flag("--show_config", "switch"),
    Flag("--wandb_args", "some"),
    Flag("--wandb_config_args", "some"),
    Flag("--trackio_args", "some"),
    Flag("--hf_hub_log_args", "some"),
    Flag("--predict_only -x", "switch"),
    Flag("--seed", "text", ",".join(map(str, _SEEDS))),
    Flag("--trust_remote_code", "switch"),
    Flag("--confirm_run_unsafe_code", "switch"),
    Flag("--metadata", "json"),
)


def parse_arguments(argv: Sequence[str]) -> argparse.Namespace:
    """The arguments, with `tasks` split, and `model_args`, `gen_kwargs` and `seed` read. `run` may come first."""
    parser = argparse.ArgumentParser(prog="lm-eval", description="Language Model Evaluation Harness")
    add_flags(parser, _FLAGS)
    args = parser.parse_args(argv[1:] if argv[:1] == ["run"] else argv)
    # A flag given without its optional value.
    args.apply_chat_template = args.apply_chat_template is None or args.apply_chat_template
    args.tasks = [name for entry in args.tasks or () for name in entry.split(",")]
    args.model_args, args.gen_kwargs = _pairs(args.model_args), _pairs(args.gen_kwargs)
    args.seed = _seeds(parser, args.seed)
    args.batch_size = int(args.batch_size) if args.batch_size.isdigit() else args.batch_size
    if (args.log_samples or args.predict_only) and not args.output_path:
        raise ValueError("Specify --output_path if providing --log_samples or --predict_only")
    return args


def _pairs(entries: Sequence[str] | None) -> dict[str, Any]:
    """`["a=1,b=x"]`, or one JSON object."""
    if not entries:
        return {}
    if entries[0].startswith("{"):
        found: Mapping[str, Any] = json.loads(entries[0])
        return dict(found)
    pairs = [pair.partition("=") for entry in entries for pair in entry.split(",") if pair]
    return {name: _value(text) for name, _, text in pairs}


def _value(text: str) -> object:
    if text.lower() in {"true", "false"}:
        return text.lower() == "true"
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _seeds(parser: argparse.ArgumentParser, text: str) -> list[int | None]:
    words = text.split(",")
    try:
        seeds = [None if word.strip().lower() == "none" else int(word) for word in words]
    except ValueError:
        parser.error(f"argument --seed: invalid value: {text!r}")
    if len(seeds) == 1:
        return seeds * len(_SEEDS)
    if len(seeds) not in {3, len(_SEEDS)}:
        parser.error(f"argument --seed: {len(_SEEDS)} integers or None expected, got {text!r}")
    return [*seeds, *_SEEDS[len(seeds) :]]
