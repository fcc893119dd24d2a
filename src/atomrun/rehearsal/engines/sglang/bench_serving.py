"""The old name of `sglang.benchmark.serving`."""

from __future__ import annotations

import os
import sys
import warnings

from sglang.benchmark.serving import main

__all__ = ["main"]

if __name__ == "__main__":
    warnings.warn(
        "`sglang.bench_serving` is deprecated and will be removed in a future release; use "
        "`sglang.benchmark.serving` instead (e.g. `python -m sglang.benchmark.serving`).",
        FutureWarning,
        stacklevel=1,
    )
    sys.exit(main(sys.argv[1:], os.environ))
