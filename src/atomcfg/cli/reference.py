"""`atomcfg explain CODE`, `atomcfg schema NAME`."""

from __future__ import annotations

import argparse
import sys

from atomcfg.catalogue import CATALOGUE, explain
from atomcfg.schemas import schema_names, schema_text
from atomcfg.suggest import nearest

from .output import complain

__all__ = ["run_explain", "run_schema"]


def run_explain(args: argparse.Namespace) -> int:
    """What a code means: title, reason, a bad and a good example."""
    code = args.code.strip().upper()
    if code not in CATALOGUE:
        near = nearest(code, CATALOGUE)
        hint = f"did you mean {near}?" if near else "codes look like A204"
        return complain(f'no diagnostic is called "{args.code}"', hint)
    sys.stdout.write(explain(code))
    return 0


def run_schema(args: argparse.Namespace) -> int:
    """A schema's text; without a name, the names."""
    if args.name is None:
        sys.stdout.write("\n".join(schema_names()) + "\n")
        return 0
    if args.name not in schema_names():
        near = nearest(args.name, schema_names())
        hint = f'did you mean "{near}"?' if near else f"known: {', '.join(schema_names())}"
        return complain(f'no schema is called "{args.name}"', hint)
    sys.stdout.write(schema_text(args.name))
    return 0
