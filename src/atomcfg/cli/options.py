"""The command line's options, declared once."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping

from atomcfg._version import __version__

from .completion import SHELLS, PrintCompletion

__all__ = ["add_compile_options", "build_parser"]


class _Help(argparse.HelpFormatter):
    """As wide as the terminal; argparse would import shutil to find that out, for every single option."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


def _columns() -> int:
    stated = os.environ.get("COLUMNS", "")
    if stated.isdecimal() and int(stated) > 0:
        return int(stated)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except (ValueError, OSError):  # closed, or no terminal
        return 80


def build_parser(wanted: str = "", complete: bool = True) -> argparse.ArgumentParser:
    """The parser of `atomcfg`; with the name of a command, of that one alone: to make all of them takes time.

    Without `complete` only the wanted command has options; the names of the others are enough for a summary.
    """
    parser = argparse.ArgumentParser(
        prog="atomcfg",
        description="Compile benchmark configs for LLM serving on AMD Instinct GPUs into run plans.",
        epilog="exit status: 0 fine, 1 differences or (with --strict) warnings, 2 errors",
        formatter_class=_Help,
    )
    parser.add_argument("--version", action="version", version=f"atomcfg {__version__}")
    parser.add_argument(
        "--print-completion", action=PrintCompletion, choices=SHELLS, help="a completion script for this shell"
    )
    # With prog, argparse need not format a usage to find it out.
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, prog="atomcfg")
    for name in [wanted] if wanted in _COMMANDS else _COMMANDS:
        summary, description, add_options = _COMMANDS[name]
        command = commands.add_parser(name, help=summary, description=description, formatter_class=_Help)
        if complete or wanted == name:
            add_options(command)
    return parser


def _add_plan(plan: argparse.ArgumentParser) -> None:
    plan.add_argument("config", nargs="?", metavar="CONFIG", help="the config (JSON)")
    add_compile_options(plan)
    plan.add_argument("-o", "--output", metavar="FILE", help="where to write the plan")
    plan.add_argument("--dry-run", "--dry_run", action="store_true", help="write nothing, show what would run")
    plan.add_argument("--commands", action="store_true", help="with --dry-run: the shell text of every command")
    plan.add_argument("--format", choices=("text", "json"), default="text", help="how to show it (default: text)")
    add_report_options(plan)


def _add_check(check: argparse.ArgumentParser) -> None:
    check.add_argument("paths", nargs="+", metavar="PATH", help="a config, threshold or cluster file, or a folder")
    check.add_argument(
        "--cluster", "--cluster_file", "--cluster-file", metavar="FILE", help="check with this cluster"
    )
    check.add_argument(
        "--lab", metavar="FILE", help="what this lab supplies (default: lab.toml beside each config)"
    )
    check.add_argument(
        "--format", choices=("text", "json", "github", "sarif"), default="text", help="how to show it"
    )
    add_report_options(check)


def _add_explain(explain: argparse.ArgumentParser) -> None:
    explain.add_argument("code", metavar="CODE", help="a code such as A204")


def _add_schema(schema: argparse.ArgumentParser) -> None:
    schema.add_argument("name", nargs="?", metavar="NAME", help="a schema; without it, their names")


def _add_show(show: argparse.ArgumentParser) -> None:
    show.add_argument("plan", metavar="PLAN")
    show.add_argument("--cell", metavar="ID", help="only this cell and its server")
    show.add_argument("--commands", action="store_true", help="the shell text of every command")


def _add_trace(trace: argparse.ArgumentParser) -> None:
    trace.add_argument("plan", metavar="PLAN")
    trace.add_argument("path", nargs="?", metavar="PATH", help="a configuration path such as params.seed")
    _add_format(trace)


def _add_diff(diff: argparse.ArgumentParser) -> None:
    diff.add_argument("before", metavar="A")
    diff.add_argument("after", metavar="B")
    _add_format(diff)


def _add_init(init: argparse.ArgumentParser) -> None:
    init.add_argument("folder", metavar="DIR", help="where the folders go")
    init.add_argument("stems", nargs="+", metavar="STEM", help="a shipped config, as atomcfg list names it")


def _add_migrate(migrate: argparse.ArgumentParser) -> None:
    migrate.add_argument("files", nargs="+", metavar="FILE", help="configs (their threshold files come along)")
    migrate.add_argument("-o", "--output", metavar="DIR", required=True, help="where to write; nothing is replaced")
    migrate.add_argument(
        "--merge", action="store_true", help="fold siblings such as _mtp3 and _accuracy into one file with profiles"
    )
    migrate.add_argument(
        "--rescale-per-gpu", action="store_true", help="mend per-GPU floors that were set with TP as the divisor"
    )
    add_report_options(migrate)


def _add_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to show it")


def _add_nothing(_parser: argparse.ArgumentParser) -> None:
    pass


def add_compile_options(parser: argparse.ArgumentParser) -> None:
    """What a compilation is given, as CVS spells it and with hyphens."""
    parser.add_argument("--config_file", "--config-file", metavar="FILE", help="the config, as cvs spells it")
    parser.add_argument("--cluster", "--cluster_file", "--cluster-file", metavar="FILE", help="the cluster file")
    parser.add_argument(
        "--config_profile", "--config-profile", "--profile", metavar="NAME", help="which profile of the config"
    )
    parser.add_argument(
        "--lab", metavar="FILE", help="what this lab supplies (default: lab.toml beside the config)"
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="PATH=VALUE", dest="overrides", help="set one config value"
    )


def add_report_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--strict", action="store_true", help="warnings count as errors")
    loudness = parser.add_mutually_exclusive_group()
    loudness.add_argument("-q", "--quiet", action="store_true", help="errors only")
    loudness.add_argument("-v", "--verbose", action="store_true", help="notes too")
    parser.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto", help="colour (NO_COLOR is honoured)"
    )


# Name -> help, description, options.
_COMMANDS: Mapping[str, tuple[str, str | None, Callable[[argparse.ArgumentParser], None]]] = {
    "plan": (
        "compile a config and write the plan",
        "Compile a config. Without -o it goes to standard output; --dry-run shows what would run.",
        _add_plan,
    ),
    "check": ("check files and folders", "Check every profile.", _add_check),
    "explain": ("what a diagnostic code means, with a bad and a good example", None, _add_explain),
    "schema": ("print a JSON schema", None, _add_schema),
    "show": ("show a plan", None, _add_show),
    "trace": ("where a value came from and what it became", None, _add_trace),
    "diff": ("what changed in meaning between two plans (exit 1 if anything did)", None, _add_diff),
    "list": ("the shipped configs", None, _add_nothing),
    "init": (
        "shipped configs as folders of your own",
        "For each shipped config a folder with its thresholds, a cluster file and a lab.toml to fill.",
        _add_init,
    ),
    "migrate": (
        "older CVS files to this language",
        "Write older configs and their threshold files in today's form: canonical cell keys, bare metric names. "
        "The result compiles to the same cells and bounds.",
        _add_migrate,
    ),
}
