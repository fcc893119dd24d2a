"""`atomcfg` on the command line."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

from atomcfg.cli.streams import let_go, open_closed

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; a closed pipe and Ctrl-C end it quietly. Without `argv` it is that of this process."""
    if argv is None:
        # The process ends before cycles could matter, and looking for them takes a tenth of its time.
        gc.disable()
    open_closed()
    try:
        from atomcfg.cli.main import run

        status = run(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
    except BrokenPipeError:
        return 0
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        if error.filename is not None:  # not of our streams: a fault of ours
            raise
        return _unwritten(error)
    finally:
        let_go()
    if argv is None:
        gc.freeze()  # or the interpreter would look for cycles as it ends
    return status


def _unwritten(error: OSError) -> int:
    """A plan that is cut must not look like one."""
    from contextlib import suppress  # here, because it hardly ever happens

    with suppress(OSError):
        sys.stderr.write(f"error: cannot write the output: {error.strerror}\n")
    return 2


if __name__ == "__main__":
    sys.exit(main())
