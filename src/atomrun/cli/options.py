"""The command line's options, declared once."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from atomcfg._version import __version__

__all__ = ["build_parser", "with_hyphens"]

Commands = Any  # argparse has no public name for what add_subparsers returns

_PARTS = ("cells", "functional", "accuracy", "long_context", "mtp_quality", "quant_parity", "gpu_metrics", "dmesg")
_ONLY = f"only this part of the run: {', '.join(_PARTS)}"
_RUN = "a run's folder, or its name or the beginning of it"
_EPILOG = (
    "exit status: 0 passed, or recorded; 1 a gate failed; 2 usage or plan; 3 infrastructure; 4 no verdict; "
    "130 interrupted"
)


def with_hyphens(argv: Sequence[str]) -> list[str]:
    """Option names with hyphens, however they were spelled: `--config_file=a_b` becomes `--config-file=a_b`."""
    spelled = []
    for word in argv:
        name, equals, value = word.partition("=")
        spelled.append(name.replace("_", "-") + equals + value if name.startswith("--") else word)
    return spelled


def build_parser() -> argparse.ArgumentParser:
    """The parser of `atomrun`."""
    parser = argparse.ArgumentParser(
        prog="atomrun", description="Execute run plans, judge what they measure, show results.", epilog=_EPILOG
    )
    parser.add_argument("--version", action="version", version=f"atomrun {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add_run(commands)
    execute = commands.add_parser("execute", help="execute a plan", epilog=_EPILOG)
    execute.add_argument("plan", metavar="PLAN", help="a plan that `atomcfg plan -o` wrote")
    _add_transport(execute)
    _add_execution(execute)
    rehearse = commands.add_parser(
        "rehearse", help="execute a plan on this machine, against stand-ins, without GPUs"
    )
    rehearse.add_argument("plan", metavar="PLAN")
    _add_execution(rehearse)
    preflight = commands.add_parser("preflight", help="check a plan's nodes, and change nothing")
    preflight.add_argument("plan", metavar="PLAN")
    _add_transport(preflight)
    _add_watching(preflight)
    cleanup = commands.add_parser("cleanup", help="give back the nodes of a run whose launcher is gone")
    cleanup.add_argument("run", metavar="RUN", help=_RUN)
    _add_watching(cleanup)
    _add_lifecycle(commands)
    _add_results(commands)
    return parser


def _add_run(commands: Commands) -> None:
    run = commands.add_parser("run", help="compile a config, keep its plan, execute it", epilog=_EPILOG)
    run.add_argument("--config-file", metavar="FILE", required=True, help="the config")
    run.add_argument("--cluster-file", "--cluster", metavar="FILE", required=True, help="the cluster file")
    run.add_argument("--config-profile", "--profile", metavar="NAME", help="which profile of the config")
    run.add_argument("--lab", metavar="FILE", help="what this lab supplies (default: lab.toml beside the config)")
    run.add_argument(
        "--set", action="append", default=[], metavar="PATH=VALUE", dest="overrides", help="set a value"
    )
    run.add_argument("--strict", action="store_true", help="warnings of the compilation count as errors")
    _add_transport(run)
    _add_execution(run)


def _add_transport(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--transport",
        choices=("ssh", "local"),
        default="ssh",
        help="local: this machine is the node (default: ssh)",
    )
    parser.add_argument(
        "--pull", choices=("missing", "always", "never"), default="never", help="pull the image (default: never)"
    )


def _add_execution(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cell", action="append", default=[], metavar="ID", help="only this cell; may be repeated")
    parser.add_argument("--session", type=int, metavar="N", help="only the cells of this session")
    parser.add_argument("--only", action="append", default=[], choices=_PARTS, metavar="PART", help=_ONLY)
    parser.add_argument(
        "--skip", action="append", default=[], choices=(*_PARTS, "flags"), metavar="PART", help="leave it out"
    )
    parser.add_argument("--fail-fast", action="store_true", help="end the run at the first failure")
    parser.add_argument("--canary", action="store_true", help="begin with the cheapest cell")
    parser.add_argument(
        "--idle", type=float, default=900.0, metavar="S", help="end what is silent for S seconds; 0: never (900)"
    )
    parser.add_argument("--no-install", action="store_true", help="never install lm-eval in the container")
    parser.add_argument(
        "--lease",
        type=int,
        default=1800,
        metavar="S",
        help="a node cleans itself after S seconds alone (1800)",
    )
    parser.add_argument("--prev", metavar="REPORT", help="an earlier run's report, to compare with")
    parser.add_argument("--parity", metavar="REPORT", help="another driver's report, to compare with")
    _add_watching(parser)


def _add_watching(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--runs", metavar="DIR", default="runs", help="where run folders are made (default: runs)")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="one JSON event a line, on standard output")
    shown.add_argument("-q", "--quiet", action="store_true", help="the verdict only")
    parser.add_argument("-v", "--verbose", action="store_true", help="the start of every stage too")


def _add_lifecycle(commands: Commands) -> None:
    resume = commands.add_parser(
        "resume", help="go on with a run whose launcher is gone, or that was interrupted", epilog=_EPILOG
    )
    resume.add_argument(
        "--takeover", action="store_true", help="even if a launcher on another machine seems to drive it"
    )
    _add_watching(resume)
    status = commands.add_parser("status", help="where a run is, and who drives it")
    stop = commands.add_parser("stop", help="end a run from another terminal, in order, and wait for it")
    stop.add_argument("--now", action="store_true", help="without grace for what runs on the nodes")
    stop.set_defaults(json=False, quiet=False, verbose=False)
    for command in (resume, status, stop):
        command.add_argument("run", metavar="RUN", help=_RUN)
    for command in (status, stop):
        command.add_argument("--runs", metavar="DIR", default="runs", help="where run folders are (default: runs)")


def _add_results(commands: Commands) -> None:
    listing = commands.add_parser("runs", help="the runs of a folder, newest first")
    show = commands.add_parser("show", help="the verdict of a run", epilog=_EPILOG)
    gate = commands.add_parser("gate", help="judge a run's artifacts again, offline", epilog=_EPILOG)
    for reader in (show, gate):
        reader.add_argument("run", metavar="RUN", help=_RUN)
        reader.add_argument("--failed", action="store_true", help="only what failed")
    gate.add_argument("--thresholds", metavar="FILE", help="judge by this file instead of the plan's own bounds")
    report = commands.add_parser("report", help="write a run's reports again")
    report.add_argument("run", metavar="RUN")
    report.add_argument("--prev", metavar="REPORT", help="an earlier run's report, to compare with")
    report.add_argument("--parity", metavar="REPORT", help="another driver's report, to compare with")
    compare, calibrate = _add_compare(commands), _add_calibrate(commands)
    for reader in (listing, show, gate, report, compare, calibrate):
        reader.add_argument("--runs", metavar="DIR", default="runs", help="where run folders are (default: runs)")


def _add_compare(commands: Commands) -> argparse.ArgumentParser:
    compare: argparse.ArgumentParser = commands.add_parser(
        "compare", help="two runs side by side", description="The other run against the baseline; judges nothing."
    )
    compare.add_argument("baseline", metavar="A", help="a run, or a report.json: the baseline")
    compare.add_argument("other", metavar="B", help="the run that is set against it")
    compare.add_argument("--format", choices=("text", "json"), default="text")
    compare.add_argument(
        "--across",
        action="append",
        default=[],
        choices=("model", "driver", "arch", "gpus", "transport"),
        help="compare although the two differ in this; may be repeated",
    )
    return compare


def _add_calibrate(commands: Commands) -> argparse.ArgumentParser:
    calibrate: argparse.ArgumentParser = commands.add_parser(
        "calibrate",
        help="write thresholds from runs, or look at some",
        description="Bounds from healthy runs of one plan on one image: the worst that was seen, and a margin.",
    )
    calibrate.add_argument("run", metavar="RUN", nargs="*", help="the runs; five or more show a spread")
    calibrate.add_argument(
        "--margin", type=_percent, default=5.0, metavar="PCT", help="room beyond the worst run, in percent (5)"
    )
    calibrate.add_argument("-o", "--output", metavar="FILE", help="where to write them (default: standard output)")
    calibrate.add_argument("--rehearsal", action="store_true", help="from rehearsals, for rehearsals")
    calibrate.add_argument(
        "--lint", metavar="FILE", help="list specs that cannot fail and gated metrics without one; write nothing"
    )
    return calibrate


def _percent(text: str) -> float:
    """From 0 to below 100."""
    value = float(text)
    if not 0 <= value < 100:
        raise ValueError(text)
    return value
