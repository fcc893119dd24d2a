"""Codes of the drivers' arguments: A500 to A549. Every example is a piece of a flat configuration."""

from __future__ import annotations

from .entry import Entry

__all__ = ["ENTRIES"]

ENTRIES = (
    Entry(
        "A500",
        "A flag says something else than a parameter",
        "The driver writes this flag itself, from the parameter that the message names. If both reached the "
        "engine, the one it reads last would win, and cell keys and per-GPU numbers would describe another "
        "run. The same value may be repeated in any spelling (-tp 8, --tensor_parallel_size=8); it is written"
        " once.",
        '{"roles": {"server": {"atom_args": ["-tp", "4"]}}, "params": {"driver": "atom", '
        '"tensor_parallelism": "8"}}',
        '{"roles": {"server": {"atom_args": ["-tp", "4"]}}, "params": {"driver": "atom", '
        '"tensor_parallelism": "4"}}',
    ),
    Entry(
        "A501",
        "This flag may not be given",
        "The message says why: it differs from rank to rank, it would spoil the artifact, or it would put a "
        "key into the plan and the process list.",
        '{"roles": {"server": {"serve_args": {"api-key": "k"}}}, "params": {"driver": "vllm"}}',
        '{"roles": {"server": {"serve_args": {}}}, "params": {"driver": "vllm"}}',
    ),
    Entry(
        "A502",
        "This is another engine's flag",
        "The engines call one thing by different names, and stop at a name they do not know, after the model "
        "was fetched. The hint gives this engine's name, or the parameter that decides.",
        '{"roles": {"server": {"atom_args": ["--nnodes", "2"]}}, "params": {"driver": "atom"}}',
        '{"roles": {"server": {"atom_args": []}}, "params": {"driver": "atom", "nnodes": "2"}}',
    ),
    Entry(
        "A503",
        "A switch is turned on and off",
        "--x and --no-x are both given. Which of them holds depends on their order. A flag replaces a default"
        " of the driver, so the default needs no --no- form beside it.",
        '{"roles": {"server": {"serve_args": {"enable-prefix-caching": true, "no-enable-prefix-caching": '
        'true}}}, "params": {"driver": "vllm"}}',
        '{"roles": {"server": {"serve_args": {"enable-prefix-caching": true}}}, "params": {"driver": "vllm"}}',
    ),
    Entry(
        "A504",
        "This is another engine's value",
        "The flag is right, the value belongs to another engine: SGLang says fp8_e4m3 where ATOM and vLLM say fp8.",
        '{"roles": {"server": {"sglang_args": ["--kv-cache-dtype", "fp8"]}}, "params": {"driver": "sglang"}}',
        '{"roles": {"server": {"sglang_args": ["--kv-cache-dtype", "fp8_e4m3"]}}, "params": {"driver": "sglang"}}',
    ),
    Entry(
        "A505",
        "The value of a flag is not known",
        "No release that was looked at takes it. Releases differ, so it is passed on; the program itself is "
        "asked before it is started.",
        '{"roles": {"server": {"atom_args": ["--method", "eagle9"]}}, "params": {"driver": "atom"}}',
        '{"roles": {"server": {"atom_args": ["--method", "eagle3"]}}, "params": {"driver": "atom"}}',
    ),
    Entry(
        "A506",
        "The flag is not known",
        "No release that was looked at has it. It is passed on, since releases differ; the hint gives the "
        "nearest name.",
        '{"roles": {"server": {"atom_args": ["--max-num-seq5", "256"]}}, "params": {"driver": "atom"}}',
        '{"roles": {"server": {"atom_args": ["--max-num-seqs", "256"]}}, "params": {"driver": "atom"}}',
    ),
    Entry(
        "A507",
        "A flag is given twice with two values",
        "The program keeps the last one, without a word.",
        '{"roles": {"server": {"atom_args": ["--block-size", "16", "--block_size=32"]}}, "params": {"driver":'
        ' "atom"}}',
        '{"roles": {"server": {"atom_args": ["--block-size", "32"]}}, "params": {"driver": "atom"}}',
    ),
    Entry(
        "A508",
        "A word belongs to no flag",
        "The argument list begins with a value. Flags start with one dash or two.",
        '{"roles": {"server": {"atom_args": ["tp", "8"]}}, "params": {"driver": "atom"}}',
        '{"roles": {"server": {"atom_args": ["-tp", "8"]}}, "params": {"driver": "atom"}}',
    ),
    Entry(
        "A510",
        "The client does not take this value",
        "ATOM's client knows one dataset, random, and four tokenizer modes; it would stop at any other.",
        '{"params": {"driver": "atom", "dataset_name": "sharegpt"}}',
        '{"params": {"driver": "atom", "dataset_name": "random"}}',
    ),
    Entry(
        "A511",
        "The dataset does not follow the cells' lengths",
        "Only random prompts are made to ISL and OSL. With another dataset, all cells of one concurrency "
        "measure the same thing under different keys.",
        '{"params": {"driver": "vllm", "dataset_name": "sharegpt"}}',
        '{"params": {"driver": "vllm", "dataset_name": "random"}}',
    ),
    Entry(
        "A512",
        "percentile_metrics lacks what the client needs",
        "ATOM's client reads ttft, tpot and itl when it ends. Without them it exits with an error after the "
        "whole run.",
        '{"params": {"driver": "atom", "percentile_metrics": "e2el"}}',
        '{"params": {"driver": "atom", "percentile_metrics": "ttft,tpot,itl,e2el"}}',
    ),
    Entry(
        "A514",
        "This is no percentile",
        "metric_percentiles is a comma list of numbers above 0 and at most 100. Those that are gated, and 99,"
        " are added.",
        '{"params": {"driver": "atom", "metric_percentiles": "0,95"}}',
        '{"params": {"driver": "atom", "metric_percentiles": "90,95"}}',
    ),
    Entry(
        "A516",
        "The range ratio is not for this client",
        "vLLM's client draws lengths from [L*(1-r), L*(1+r)] and refuses r = 1; ATOM's and SGLang's draw from"
        " [L*r, L], where 1 is an exact length.",
        '{"params": {"driver": "vllm", "random_range_ratio": "1"}}',
        '{"params": {"driver": "vllm", "random_range_ratio": "0"}}',
    ),
    Entry(
        "A517",
        "The number of replicas is no whole number",
        "The plan multiplies it into the GPU count, by which per-GPU metrics divide.",
        '{"roles": {"server": {"atom_args": ["-dp", "two"]}}, "params": {"driver": "atom"}}',
        '{"roles": {"server": {"atom_args": ["-dp", "2"]}}, "params": {"driver": "atom"}}',
    ),
)
