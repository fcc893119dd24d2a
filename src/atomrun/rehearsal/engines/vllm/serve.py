"""`vllm serve`: the order of vLLM's log lines, its early bind and its late listen."""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import time
from collections.abc import Mapping, Sequence

from standin.batch import Batch
from standin.console import fail, say
from standin.environment import from_environment
from standin.faults import Faults, for_rank
from standin.flags import add_flags
from standin.group import Place
from standin.knobs import Knobs
from standin.life import Life, answer_on, bind, farewell
from standin.server import Status, application

from .command_line import FlexibleParser, prepare
from .dialect import VERSION, VllmDialect
from .serve_flags import SERVE

__all__ = ["serve", "serve_arguments"]

_DEFAULT_MODEL = "Qwen/Qwen3-0.6B"
_DEFAULT_CONTEXT = 163_840  # tokens, where --max-model-len does not say
_OOM = (
    "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 256.00 MiB. GPU 0 has a total capacity of "
    "287.98 GiB of which 6.00 MiB is free."
)
_FAULT = "Memory access fault by GPU node-3 (Agent handle: 0x13e852f0) on address 0x77d445e00000. Reason: Unknown."


def serve_arguments(argv: Sequence[str]) -> argparse.Namespace:
    """What follows `serve`, read as vLLM reads it; ends the program as argparse does."""
    parser = FlexibleParser(
        prog="vllm serve",
        usage="vllm serve [model_tag] [options]",
        description="Launch a local OpenAI-compatible API server.",
    )
    parser.add_argument("model_tag", nargs="?")
    add_flags(parser, SERVE)
    args = parser.parse_args(prepare(parser, argv))
    args.model = args.model_tag or args.model or _DEFAULT_MODEL
    return args


def serve(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Run a server, or a rank without HTTP, until it ends; the exit code."""
    args = serve_arguments(argv)
    knobs = from_environment(Knobs, "STANDIN_", env)
    faults = for_rank(from_environment(Faults, "STANDIN_FAULT_", env), args.node_rank)
    return asyncio.run(_serve(args, Life(knobs, faults, _mourn), knobs, faults, env))


async def _serve(args: argparse.Namespace, life: Life, knobs: Knobs, faults: Faults, env: Mapping[str, str]) -> int:
    life.begin(env)
    _log("APIServer", "utils.py:299", f"vLLM server version {VERSION}, serving model {args.model}")
    given = {name: value for name, value in vars(args).items() if value not in (None, False)}
    _log("APIServer", "utils.py:233", f"non-default args: {given}")
    # The port is taken before the engine starts, and answers only after: a connection is refused until then.
    listener = None if args.headless else _bind(args, faults)
    _log("EngineCore", "core.py:93", f"Initializing a V1 LLM engine (v{VERSION}) with config: model='{args.model}'")
    await life.join(Place(args.node_rank, args.nnodes, args.master_addr, args.master_port))
    _log("Worker_TP0", "gpu_model_runner.py:3930", f"Starting to load model {args.model}...")
    await life.load(_deaths(args.model))
    _log(
        "Worker_TP0",
        "gpu_model_runner.py:4012",
        f"Model loading took 79.61 GiB memory and {knobs.load_s:.6f} seconds",
    )
    _log("EngineCore", "kv_cache_utils.py:1305", "GPU KV cache size: 1,048,576 tokens")
    _log(
        "EngineCore",
        "core.py:250",
        f"init engine (profile, create kv cache, warmup model) took {knobs.load_s:.2f} s",
    )
    if listener is None:
        return await life.until_end()
    await _open(args, listener, knobs, faults)
    code = await life.until_end()
    if code == 0:
        farewell(f"(APIServer pid={os.getpid()}) INFO:     ")
    return code


async def _open(args: argparse.Namespace, listener: socket.socket, knobs: Knobs, faults: Faults) -> None:
    names = args.served_model_name or [args.model]
    usage = "never" if faults.no_usage else "always" if args.enable_force_include_usage else "asked"
    limit = args.max_model_len or _DEFAULT_CONTEXT
    dialect = VllmDialect(faults.wrong_model or names[0], args.model, limit, os.getpid(), usage)
    batch = Batch(knobs, args.max_num_seqs, _speculative_tokens(args))
    app = application(dialect, batch, faults, Status(), access_log=not args.disable_uvicorn_access_log)
    _log("APIServer", "entry.py:139", f"Starting vLLM server on http://{args.host or '0.0.0.0'}:{args.port}")  # noqa: S104 - the default
    say(dialect.access(f"Started server process [{os.getpid()}]"))
    say(dialect.access("Waiting for application startup."))
    await answer_on(listener, app)
    say(dialect.access("Application startup complete."))


def _bind(args: argparse.Namespace, faults: Faults) -> socket.socket:
    try:
        return bind(args.host or "", args.port, faults)
    except OSError as error:
        raise fail(f"(APIServer pid={os.getpid()}) OSError: {error}", 1) from None


def _speculative_tokens(args: argparse.Namespace) -> int:
    config = args.speculative_config or {}
    return int(config.get("num_speculative_tokens", 0) or args.spec_tokens or 0)


def _deaths(model: str) -> dict[str, tuple[list[str], int]]:
    end = [
        f"(EngineCore pid={os.getpid()}) EngineCore failed to start.",
        "RuntimeError: Engine core initialization failed. See root cause above. "
        "Failed core proc(s): {'EngineCore_0': 1}",
    ]
    return {
        "oom": ([_OOM, *end], 1),
        "weights": ([f"RuntimeError: Cannot find any model weights with `{model}`", *end], 1),
        "gpu_fault": ([_FAULT], -6),
    }


def _mourn(reason: str) -> None:
    pid = os.getpid()
    say(f"(EngineCore pid={pid}) Exception: {reason}")
    say(f"(APIServer pid={pid}) Engine core proc EngineCore_0 died unexpectedly, shutting down client.")


def _log(process: str, place: str, text: str) -> None:
    say(f"({process} pid={os.getpid()}) INFO {time.strftime('%m-%d %H:%M:%S')} [{place}] {text}")
