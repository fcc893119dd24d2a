"""`atomrun` on the command line."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress

from atomcfg.cli.streams import let_go, open_closed
from atomrun.cli.main import run
from atomrun.results import ExitCode

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; a closed pipe and Ctrl-C end it quietly."""
    open_closed()
    try:
        return run(sys.argv[1:] if argv is None else argv)
    except BrokenPipeError:
        return ExitCode.OK  # of a list, of which somebody wanted the beginning
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except Exception:  # noqa: BLE001 - a fault of ours; Python's own status 1 would read as a gate that failed
        with suppress(OSError):
            traceback.print_exc()
        return ExitCode.INFRASTRUCTURE
    finally:
        let_go()


if __name__ == "__main__":
    sys.exit(main())
