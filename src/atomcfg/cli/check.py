"""`atomcfg check PATH...`: any number of files and folders, every profile."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from atomcfg.diagnostics import Diagnostic, Severity, ordered
from atomcfg.documents import Source
from atomcfg.standalone import check_alone, role_of
from atomcfg.suggest import counted

from .compiling import compile_files
from .output import EXIT_ERRORS, EXIT_WARNINGS, complain, render, summarise

__all__ = ["run_check"]

# A check needs no nodes: that no cluster file was given is no finding.
_NOT_HERE = ("A601",)


def run_check(args: argparse.Namespace) -> int:
    """Exit status: 0, 1 for warnings under --strict, 2 for errors."""
    files = []
    for name in args.paths:
        path = Path(name)
        if not path.exists():
            return complain(f"no file or folder {name}")
        files += sorted(_json_files(path)) if path.is_dir() else [path]
    if not files:
        return complain("no JSON file there")
    found = ordered(item for path in files for item in _check(path, args))
    shown = [item for item in found if args.verbose or item.severity is not Severity.NOTE]
    shown = [item for item in shown if not args.quiet or item.severity is Severity.ERROR]
    sys.stdout.write(render(shown, args))
    if args.format == "text":
        sys.stderr.write(f"{counted(files, 'file')}: {summarise(found) or 'nothing found'}\n")
    severities = {item.severity for item in found}
    if Severity.ERROR in severities:
        return EXIT_ERRORS
    return EXIT_WARNINGS if args.strict and Severity.WARNING in severities else 0


def _json_files(folder: Path) -> Iterator[Path]:
    """JSON files below a folder; hidden folders and results of runs are not configuration."""
    for path in folder.rglob("*.json"):
        if not any(part.startswith(".") for part in path.relative_to(folder).parts):
            yield path


def _check(path: Path, args: argparse.Namespace) -> Iterable[Diagnostic]:
    data = path.read_bytes() if path.is_file() else b""
    role = role_of(path.name, data)
    if role == "config":
        result = compile_files(str(path), cluster=args.cluster, lab=args.lab, dry_run=True, every_profile=True)
        return (item for item in result.diagnostics if item.code not in _NOT_HERE)
    return check_alone(Source(role, str(path), data))
