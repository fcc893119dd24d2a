"""`atomcfg explain CODE`."""

from __future__ import annotations

import argparse
import sys

from atomcfg.catalogue import CATALOGUE, explain
from atomcfg.suggest import nearest

from .output import complain

__all__ = ["run_explain"]


def run_explain(args: argparse.Namespace) -> int:
    """What a code means: title, reason, a bad and a good example."""
    code = args.code.strip().upper()
    if code not in CATALOGUE:
        near = nearest(code, CATALOGUE)
        hint = f"did you mean {near}?" if near else "codes look like A204"
        return complain(f'no diagnostic is called "{args.code}"', hint)
    sys.stdout.write(explain(code))
    return 0
