"""Parse the command line, call one command. Each command is imported when it is used."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from importlib import import_module

from .options import build_parser

__all__ = ["run"]

_COMMANDS = {
    "plan": ("plan", "run_plan"),
    "check": ("check", "run_check"),
    "explain": ("reference", "run_explain"),
    "schema": ("reference", "run_schema"),
    "show": ("show", "run_show"),
    "trace": ("show", "run_trace"),
    "diff": ("show", "run_diff"),
    "list": ("examples", "run_list"),
    "init": ("init", "run_init"),
    "migrate": ("migrate", "run_migrate"),
}


def run(argv: Sequence[str]) -> int:
    """The exit status of one command."""
    first = argv[0] if argv else ""
    # Only a completion script needs the options of all commands.
    args = build_parser(first, complete=first.startswith("--p")).parse_args(argv)
    module, function = _COMMANDS[args.command]
    command: Callable[[Namespace], int] = getattr(import_module(f"atomcfg.cli.{module}"), function)
    return command(args)
