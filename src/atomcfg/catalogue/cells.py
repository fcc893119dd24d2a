"""Codes of the sweep: A701 to A799."""

from __future__ import annotations

from .entry import Entry

__all__ = ["ENTRIES"]

_RUNS = '{"sequence_combinations": [{"name": "a", "isl": 1024, "osl": 1024}], "runs": [%s]}'

ENTRIES = (
    Entry(
        "A701",
        "This is no cell key",
        "A cell key names a cell by its five dimensions, each once: ISL, OSL, TP, PP, CONC.",
        '{"ISL=1024,OSL=1024,TP=8,CON=128": {}}',
        '{"ISL=1024,OSL=1024,TP=8,PP=1,CONC=128": {}}',
    ),
    Entry(
        "A702",
        "A cell key in an older form",
        "Keys without PP mean PP=1; NNODES and DP are not part of a key any more. They load, but the canonical form is "
        "what reports show.",
        '{"ISL=1024,OSL=1024,TP=8,CONC=128": {}}',
        '{"ISL=1024,OSL=1024,TP=8,PP=1,CONC=128": {}}',
    ),
    Entry(
        "A703",
        "A run is not in sweeps",
        "runs picks keys of sweeps; this one is not there.",
        '{"sweeps": {"ISL=128,OSL=32,TP=8,PP=1,CONC=1": {}}, "runs": ["ISL=128,OSL=32,TP=8,PP=1,CONC=2"]}',
        '{"sweeps": {"ISL=128,OSL=32,TP=8,PP=1,CONC=1": {}}, "runs": ["ISL=128,OSL=32,TP=8,PP=1,CONC=1"]}',
    ),
    Entry(
        "A704",
        "Two combos have one name",
        "Runs refer to combos by name, so each name may stand once.",
        '{"sequence_combinations": [{"name": "a", "isl": 1, "osl": 1}, {"name": "a", "isl": 2, "osl": 2}]}',
        '{"sequence_combinations": [{"name": "a", "isl": 1, "osl": 1}, {"name": "b", "isl": 2, "osl": 2}]}',
    ),
    Entry(
        "A705",
        "There is no such combo",
        "A run names a combo that sequence_combinations does not define.",
        _RUNS % '{"combo": "b", "concurrency": 1}',
        _RUNS % '{"combo": "a", "concurrency": 1}',
    ),
    Entry(
        "A706",
        "The sweep has no cells",
        "A run over no cells would end in seconds, all green, having measured nothing.",
        _RUNS % "",
        _RUNS % '{"combo": "a", "concurrency": 1}',
    ),
    Entry(
        "A708",
        "A cell key contradicts the parameters",
        "The server runs with the parameters; the key would report another parallelism.",
        '{"params": {"tensor_parallelism": 8}, "runs": ["ISL=128,OSL=32,TP=4,PP=1,CONC=1"]}',
        '{"params": {"tensor_parallelism": 8}, "runs": ["ISL=128,OSL=32,TP=8,PP=1,CONC=1"]}',
    ),
    Entry(
        "A709",
        "Two cells are one",
        "Results are kept by key and id. Two runs with one key would be judged by one number.",
        _RUNS % '{"combo": "a", "concurrency": 1}, {"combo": "a", "concurrency": 1}',
        _RUNS % '{"combo": "a", "concurrency": 1}, {"combo": "a", "concurrency": 2}',
    ),
    Entry(
        "A710",
        "A cell does not fit the context",
        "Prompt and output together are longer than max_model_length; the server would refuse every request.",
        '{"params": {"max_model_length": 1024}, "isl": 1024, "osl": 1024}',
        '{"params": {"max_model_length": 4096}, "isl": 1024, "osl": 1024}',
    ),
    Entry(
        "A711",
        "Some requests of a cell do not fit the context",
        "Clients draw lengths from a range. ATOM and SGLang draw from [L*r, L], vLLM from [L*(1-r), L*(1+r)]; the share "
        "of requests over the limit fails with HTTP 400.",
        '{"max_model_length": 10240, "isl": 8192, "osl": 1024, "random_range_ratio": 0.8, "driver": "vllm_atom"}',
        '{"max_model_length": 16896, "isl": 8192, "osl": 1024, "random_range_ratio": 0.8, "driver": "vllm_atom"}',
    ),
    Entry(
        "A712",
        "Fewer prompts than concurrent requests",
        "The asked concurrency is never reached, and tail percentiles of so few requests mean nothing.",
        '{"num_prompts": 100, "concurrency": 256}',
        '{"num_prompts": 1280, "concurrency": 256}',
    ),
    Entry(
        "A713",
        "A needle cell does not fit the context",
        "It is left out of the run, since the server could not answer it.",
        '{"max_model_length": 4096, "long_context_accuracy": {"cells": [{"id": "n8k", "isl": 8192}]}}',
        '{"max_model_length": 12288, "long_context_accuracy": {"cells": [{"id": "n8k", "isl": 8192}]}}',
    ),
)
