"""`atomcfg` on the command line."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; a closed pipe and Ctrl-C end it quietly. Without `argv` it is that of this process."""
    if argv is None:
        # The process ends before cycles could matter, and looking for them takes a tenth of its time.
        gc.disable()
    try:
        from atomcfg.cli.main import run

        status = run(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read us has gone; the interpreter must not complain while flushing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    if argv is None:
        gc.freeze()  # or the interpreter would look for cycles as it ends
    return status


if __name__ == "__main__":
    sys.exit(main())
