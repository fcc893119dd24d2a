"""`python3 -m vllm.entrypoints.cli.main`: serve and bench serve."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from standin.console import whisper
from vllm.bench import bench_serve
from vllm.serve import serve

__all__ = ["main"]

_USAGE = "usage: vllm [-h] [-v] {chat,complete,serve,launch,bench,collect-env,run-batch} ..."


def main(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Run a sub-command; the exit code."""
    if argv[:1] == ["serve"]:
        return serve(argv[1:], env)
    if argv[:2] == ["bench", "serve"]:
        return bench_serve(argv[2:], env)
    whisper(_USAGE)
    if argv[:1] in (["-h"], ["--help"]):
        return 0
    whisper(f"vllm: error: the stand-in knows serve and bench serve, not {' '.join(argv[:2]) or 'nothing'}")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
