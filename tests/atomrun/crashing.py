"""`python -m tests.atomrun.crashing POINT ARGUMENT...`: atomrun, killed as soon as record POINT of its journal is
durable. 0 is never. No handler runs and nothing is flushed, as with any SIGKILL. `CRASHING_PYTHON` names the
interpreter that a rehearsal's nodes get.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from atomrun.__main__ import main

__all__: list[str] = []


def dying(point: int, fsync: Callable[[Any], None]) -> Callable[[Any], None]:
    """`fsync` until the journal was synced `point` times; then the end."""
    written = 0

    def sync(descriptor: Any) -> None:
        nonlocal written
        fsync(descriptor)
        if Path(f"/proc/self/fd/{descriptor}").readlink().name == "journal.jsonl":
            written += 1
            if written == point:
                os.kill(os.getpid(), signal.SIGKILL)

    return sync


if __name__ == "__main__":
    sys.executable = os.environ.get("CRASHING_PYTHON", sys.executable)
    os.fsync = dying(int(sys.argv[1]), os.fsync)
    sys.exit(main(sys.argv[2:]))
