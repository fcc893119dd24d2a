"""SGLang's server: `python3 -m sglang.launch_server --model-path M --port P ...`."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Mapping, Sequence

from sglang.dialect import SglangDialect
from sglang.server_flags import SERVER
from standin.batch import Batch
from standin.console import say
from standin.environment import from_environment
from standin.faults import Faults, for_rank
from standin.flags import add_flags
from standin.group import Place
from standin.knobs import Knobs
from standin.life import Life, answer_on, bind, farewell
from standin.server import Status, application
from standin.stream import get_json, session

__all__ = ["arguments", "main"]

_DEFAULT_CONTEXT = 163_840  # tokens, where --context-length does not say
_DEFAULT_MASTER = "127.0.0.1:29500"
_DEFAULT_RUNNING = 2048  # requests
_ECHOED = ("model_path", "host", "port", "tp_size", "pp_size", "nnodes", "node_rank", "kv_cache_dtype")
_KILLED = -9  # the parent ends its whole process tree, itself included
_FAULT = "Memory access fault by GPU node-3 (Agent handle: 0x13e852f0) on address 0x77d445e00000. Reason: Unknown."


def arguments(argv: Sequence[str]) -> argparse.Namespace:
    """The command line, read as SGLang reads it; ends the program as argparse does."""
    parser = argparse.ArgumentParser(prog="launch_server.py")
    add_flags(parser, SERVER)
    return parser.parse_args(argv)


def main(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Run a server, or a rank without HTTP, until it ends; the exit code."""
    args = arguments(argv)
    knobs = from_environment(Knobs, "STANDIN_", env)
    faults = for_rank(from_environment(Faults, "STANDIN_FAULT_", env), args.node_rank)
    return asyncio.run(_serve(args, Life(knobs, faults, _mourn), knobs, faults, env))


async def _serve(args: argparse.Namespace, life: Life, knobs: Knobs, faults: Faults, env: Mapping[str, str]) -> int:
    life.begin(env)
    address, _, port = (args.dist_init_addr or _DEFAULT_MASTER).rpartition(":")
    given = ", ".join(f"{name}={getattr(args, name)!r}" for name in _ECHOED)
    _log(f"server_args=ServerArgs({given})")
    _log("Init torch distributed begin.", " TP0")
    await life.join(Place(args.node_rank, args.nnodes, address, int(port)))
    _log("Load weight begin. avail mem=287.11 GB", " TP0")
    await life.load(_deaths(args.model_path))
    _log("Load weight end. type=DeepseekV3ForCausalLM, dtype=torch.bfloat16, avail mem=205.33 GB", " TP0")
    _log("KV Cache is allocated. #tokens: 1048576, KV size: 68.62 GB", " TP0")
    _log(f"max_total_num_tokens=1048576, context_len={args.context_length or _DEFAULT_CONTEXT}", " TP0")
    if args.node_rank > 0:
        return await life.until_end()
    await life.unless_ended(_open(args, knobs, faults))
    code = await life.until_end()
    if code == 0:
        farewell("INFO:     ")
    return code


async def _open(args: argparse.Namespace, knobs: Knobs, faults: Faults) -> None:
    """Start HTTP, then warm up: /health answers 503 until the warm-up request is done."""
    model = faults.wrong_model or args.served_model_name or args.model_path
    limit = args.context_length or _DEFAULT_CONTEXT
    dialect = SglangDialect(model, args.model_path, limit, args.enable_metrics, faults.no_usage)
    speculative = (args.speculative_num_draft_tokens or args.speculative_num_steps or 0) if _speculates(args) else 0
    batch, status = Batch(knobs, args.max_running_requests or _DEFAULT_RUNNING, speculative), Status(ready=False)
    say(f"INFO:     Started server process [{os.getpid()}]")
    say("INFO:     Waiting for application startup.")
    say("INFO:     Application startup complete.")
    try:
        listener = bind(args.host, args.port, faults)
        await answer_on(listener, application(dialect, batch, faults, status))
    except OSError:
        where = (args.host, args.port)
        say(f"ERROR:    [Errno 98] error while attempting to bind on address {where}: address already in use")
        raise SystemExit(3) from None
    say(f"INFO:     Uvicorn running on http://{args.host}:{args.port} (Press CTRL+C to quit)")
    if not args.skip_server_warmup:
        await _warm_up("127.0.0.1" if args.host == "0.0.0.0" else args.host, args.port)  # noqa: S104 - not an address to connect to
    status.ready = True
    _log("The server is fired up and ready to roll!")


async def _warm_up(host: str, port: int) -> None:
    """One request of its own, as the real server sends; a fault that hangs completions hangs this too."""
    base = f"http://{host}:{port}"
    body = {"text": "The capital city of France is", "sampling_params": {"temperature": 0, "max_new_tokens": 8}}
    async with session() as http:
        await get_json(http, f"{base}/get_model_info")
        async with http.post(f"{base}/generate", json=body) as response:
            await response.read()


def _speculates(args: argparse.Namespace) -> bool:
    return bool(args.speculative_algorithm)


def _deaths(model: str) -> dict[str, tuple[list[str], int]]:
    end = ["Received sigquit from a child process. It usually means the child failed."]
    scheduler = "Scheduler hit an exception: Traceback (most recent call last):"
    oom = "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static."
    return {
        "oom": ([scheduler, oom, *end], _KILLED),
        "weights": ([scheduler, f"RuntimeError: Cannot find any model weights with `{model}`", *end], _KILLED),
        "gpu_fault": ([_FAULT, "Fatal Python error: Aborted"], -6),
    }


def _mourn(reason: str) -> None:
    _log(f"Scheduler hit an exception: {reason}")
    _log("Received sigquit from a child process. It usually means the child failed.")


def _log(text: str, who: str = "") -> None:
    say(f"[{time.strftime('%Y-%m-%d %H:%M:%S')}{who}] {text}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
