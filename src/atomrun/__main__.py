"""`atomrun` on the command line."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

from atomrun.cli.main import run
from atomrun.results import ExitCode

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; a closed pipe and Ctrl-C end it quietly."""
    try:
        status = run(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read us has gone; the interpreter must not complain while flushing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except Exception:  # noqa: BLE001 - a fault of ours; Python's own status 1 would read as a gate that failed
        traceback.print_exc()
        return ExitCode.INFRASTRUCTURE
    return status


if __name__ == "__main__":
    sys.exit(main())
