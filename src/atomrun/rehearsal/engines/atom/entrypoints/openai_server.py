"""ATOM's server: `python -m atom.entrypoints.openai_server --model M --server-port P ...`."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Mapping, Sequence

from atom.dialect import AtomDialect
from atom.flags import SERVER
from standin.batch import Batch
from standin.console import hms, say
from standin.environment import from_environment
from standin.faults import Faults, for_rank
from standin.flags import add_flags
from standin.group import Place
from standin.knobs import Knobs
from standin.life import Life, answer_on, bind, farewell
from standin.server import Status, application

__all__ = ["arguments", "main"]

_DEFAULT_CONTEXT = 163_840  # tokens, where --max-model-len does not say
_ECHOED = (
    "trust_remote_code",
    "tensor_parallel_size",
    "data_parallel_size",
    "enforce_eager",
    "enable_prefix_caching",
    "port",
    "kv_cache_dtype",
    "max_model_len",
    "max_num_batched_tokens",
)


def arguments(argv: Sequence[str]) -> argparse.Namespace:
    """The command line, read as ATOM reads it; ends the program as argparse does."""
    parser = argparse.ArgumentParser(prog="openai_server.py", description="Atom OpenAI API Server")
    add_flags(parser, SERVER, both_spellings=True)
    return parser.parse_args(argv)


def main(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Run a server until it ends; the exit code."""
    args = arguments(argv)
    knobs = from_environment(Knobs, "STANDIN_", env)
    place = _place(env)
    faults = for_rank(from_environment(Faults, "STANDIN_FAULT_", env), place.rank)
    return asyncio.run(_serve(args, place, Life(knobs, faults, _mourn), knobs, faults, env))


async def _serve(
    args: argparse.Namespace, place: Place, life: Life, knobs: Knobs, faults: Faults, env: Mapping[str, str]
) -> int:
    life.begin(env)
    _log(f"Loading tokenizer from {args.model}...")
    _log(f"Initializing engine with model {args.model}...")
    _log(f"Engine kwargs: { {name: getattr(args, name) for name in _ECHOED} }")
    if place.size > 1:
        _log(f"Engine Core: data parallel rank {place.rank} of {place.size}, master {place.address}:{place.port}")
    await life.join(place)
    await life.load(_deaths(args.model))
    sizes, seconds = args.cudagraph_capture_sizes, knobs.load_s
    _log(f"Engine Core: cudagraph capture{sizes} cost: {seconds:.2f} seconds, pool: 2.13GB")
    _log("Engine Core: load model runner success")
    _log(f"Engine Core Mgr: All {args.data_parallel_size} EngineCores initialized and ready")
    if place.rank > 0:
        return await life.until_end()
    await _open(args, knobs, faults)
    code = await life.until_end()
    if code == 0:
        farewell("INFO:     ")
    return code


async def _open(args: argparse.Namespace, knobs: Knobs, faults: Faults) -> None:
    """Start HTTP. The ready line comes before the port is bound, as in the real server."""
    model = faults.wrong_model or args.served_model_name or args.model
    dialect = AtomDialect(model, args.max_model_len or _DEFAULT_CONTEXT, faults.no_usage)
    batch = Batch(knobs, args.max_num_seqs, args.num_speculative_tokens if args.method else 0)
    app = application(dialect, batch, faults, Status(), access_log=not args.disable_uvicorn_access_log)
    _log(f"Starting server on {args.host}:{args.server_port} (loop=auto)...")
    say(f"INFO:     Started server process [{os.getpid()}]")
    say("INFO:     Waiting for application startup.")
    _log("Server started successfully and ready to accept requests")
    say("INFO:     Application startup complete.")
    try:
        listener = bind(args.host, args.server_port, faults)
        await answer_on(listener, app)
    except OSError:
        where = (args.host, args.server_port)
        say(f"ERROR:    [Errno 98] error while attempting to bind on address {where}: address already in use")
        say("INFO:     Waiting for application shutdown.")
        say("INFO:     Application shutdown complete.")
        raise SystemExit(3) from None
    say(f"INFO:     Uvicorn running on http://{args.host}:{args.server_port} (Press CTRL+C to quit)")


def _place(env: Mapping[str, str]) -> Place:
    return Place(
        rank=int(env.get("ATOM_DP_RANK", "0")),
        size=int(env.get("ATOM_DP_SIZE", "1")),
        address=env.get("ATOM_DP_MASTER_IP", "127.0.0.1"),
        port=int(env.get("ATOM_DP_MASTER_PORT", "29500")),
    )


def _deaths(model: str) -> dict[str, tuple[list[str], int]]:
    failed = [f"[atom {hms()}] Engine Core: load model runner failed"]
    end = [
        f"[atom {hms()}] Engine Core Mgr: Some processes failed to start, shutting down all",
        "RuntimeError: Failed to start all EngineCore processes",
    ]
    oom = "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 256.00 MiB."
    fault = (
        "Memory access fault by GPU node-3 (Agent handle: 0x13e852f0) on address 0x77d445e00000. Reason: Unknown."
    )
    return {
        "oom": ([oom, *failed, *end], 1),
        "weights": ([f"RuntimeError: Cannot find any model weights with `{model}`", *failed, *end], 1),
        "gpu_fault": ([fault], -6),
    }


def _mourn(reason: str) -> None:
    say(f"RuntimeError: {reason}")
    _log("Engine Core Mgr: Failed to initialize all EngineCores, cleaning up: " + reason)


def _log(text: str) -> None:
    say(f"[atom {hms()}] {text}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
