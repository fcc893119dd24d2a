"""Parse the command line, call one command. Each command is imported when it is used."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from importlib import import_module

from .options import build_parser, with_hyphens
from .output import Fault, complain

__all__ = ["run"]

_COMMANDS = {
    "run": ("execution", "run_config"),
    "execute": ("execution", "run_plan"),
    "rehearse": ("execution", "run_rehearsal"),
    "preflight": ("execution", "run_preflight"),
    "resume": ("lifecycle", "run_resume"),
    "status": ("lifecycle", "run_status"),
    "stop": ("lifecycle", "run_stop"),
    "cleanup": ("execution", "run_cleanup"),
    "runs": ("results", "run_runs"),
    "show": ("results", "run_show"),
    "gate": ("results", "run_gate"),
    "report": ("results", "run_report"),
    "compare": ("compare", "run_compare"),
    "calibrate": ("calibrate", "run_calibrate"),
}


def run(argv: Sequence[str]) -> int:
    """The exit status of one command."""
    args = build_parser().parse_args(with_hyphens(argv))
    module, function = _COMMANDS[args.command]
    command: Callable[[Namespace], int] = getattr(import_module(f"atomrun.cli.{module}"), function)
    try:
        return command(args)
    except Fault as fault:
        return complain(fault)
