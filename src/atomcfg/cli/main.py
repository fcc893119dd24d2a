"""Parse the command line, call one command. Each command is imported when it is used."""

from __future__ import annotations

from collections.abc import Sequence

from .options import build_parser

__all__ = ["run"]


def run(argv: Sequence[str]) -> int:
    """The exit status of one command."""
    args = build_parser().parse_args(argv)
    if args.command == "explain":
        from .explain import run_explain

        return run_explain(args)
    from .plan import run_plan

    return run_plan(args)
