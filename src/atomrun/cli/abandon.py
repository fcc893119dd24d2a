"""The third signal: say what remains on the nodes, and go. Their leases end what runs there."""

from __future__ import annotations

import os
import sys
import threading

from atomrun.context import RunContext
from atomrun.events import Sink
from atomrun.results import ExitCode

__all__ = ["abandon"]

_PATIENCE_S = 2.0  # for the last words, should a terminal take none


def abandon(run: RunContext, sink: Sink) -> None:
    """End the process with `ExitCode.INTERRUPTED`, soon. Called from a signal's handler.

    The work is a thread's: the signal may have come in the middle of a write to the very stream that takes the last
    words, and Python refuses to enter a stream twice.
    """
    threading.Thread(target=_leave, args=(run, sink), daemon=True).start()


def _leave(run: RunContext, sink: Sink) -> None:
    watchdog = threading.Timer(_PATIENCE_S, os._exit, (ExitCode.INTERRUPTED,))
    watchdog.daemon = True
    watchdog.start()
    try:
        _say(run, sink)
    finally:
        os._exit(ExitCode.INTERRUPTED)


def _say(run: RunContext, sink: Sink) -> None:
    nodes = ", ".join(node.name for node in run.nodes if node.root) or "no node"
    text = (
        f"given up on {run.run_id}; it still holds {nodes}, until its lease of {run.options.lease_s} s runs out\n"
    )
    (run.folder.path / "LEFT-BEHIND.txt").write_text(f"{text}atomrun cleanup {run.run_id}\n")
    sink.close()
    sys.stderr.write(text)
    sys.stderr.flush()
