"""`atomrun compare`: two runs side by side, on the terminal or as JSON."""

from __future__ import annotations

import json
import sys
from argparse import Namespace

import cattrs

from atomrun.comparison import Comparison, Refusal, compare

from .output import Fault
from .stored import read_sheet

__all__ = ["run_compare"]


def run_compare(args: Namespace) -> int:
    """B against the baseline A. A comparison judges nothing: its exit status is 0."""
    baseline, other = read_sheet(args.baseline, args.runs), read_sheet(args.other, args.runs)
    try:
        found = compare(other, baseline, args.across)
    except Refusal as error:
        raise Fault(str(error), error.hint) from None
    if args.format == "json":
        sys.stdout.write(_document(found))
    else:
        from rich.console import Console

        from atomrun.report.sidebyside import side_by_side

        console = Console()
        console.print(side_by_side(found, console.width))
    return 0


def _document(found: Comparison) -> str:
    content = cattrs.unstructure(found)
    for side in ("ours", "theirs"):
        for measured in ("cells", "accuracy"):
            del content[side][measured]  # they stand in the rows
    return json.dumps(content, indent=1, sort_keys=True, allow_nan=False) + "\n"
