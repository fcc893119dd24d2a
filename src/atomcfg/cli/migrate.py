"""`atomcfg migrate FILE... -o DIR`: older CVS files to this language."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from attrs import evolve

from atomcfg.documents import Source
from atomcfg.migration import Migration, Written, migrate
from atomcfg.sources import Sources
from atomcfg.standalone import role_of

from .compiling import Unreadable, local_user, read_source, read_sources
from .folder import write_new
from .output import EXIT_ERRORS, complain, report

__all__ = ["run_migrate"]

_ROLES = ("config", "threshold")


def run_migrate(args: argparse.Namespace) -> int:
    """Exit status: 0, 2 for errors. Writes all files or none, and none over another."""
    try:
        configs, thresholds = _read(args.files)
    except Unreadable as fault:
        report([fault.diagnostic], args)
        return EXIT_ERRORS
    except _NotOurs as fault:
        return complain(str(fault), "give configs and threshold files")
    made = migrate(configs, thresholds, merge=args.merge, rescale_per_gpu=args.rescale_per_gpu, user=local_user())
    report(made.diagnostics, args)
    if not made.files:
        return EXIT_ERRORS
    folder = Path(args.output)
    status = write_new(folder, {file.name: file.text for file in made.files})
    if status == 0 and not args.quiet:
        sys.stdout.write(_told(made, folder))
    return status


class _NotOurs(Exception):
    """A file that is neither config nor thresholds."""


def _read(names: Sequence[str]) -> tuple[list[Sources], list[Source]]:
    """The configs with the threshold files that they name, and the threshold files that stand alone."""
    configs: list[Sources] = []
    alone: list[Source] = []
    for name in dict.fromkeys(names):
        source = read_source("config", name)
        role = role_of(Path(name).name, source.data)
        if role not in _ROLES:
            raise _NotOurs(f"{name} is a {role} file")
        if role == "config":
            configs.append(evolve(read_sources(name), lab=None))  # a lab's values are no part of the file
        else:
            alone.append(Source(role, name, source.data))
    named = {Path(source.name).resolve() for sources in configs for source in sources.thresholds}
    return configs, [source for source in alone if Path(source.name).resolve() not in named]


def _told(made: Migration, folder: Path) -> str:
    return "".join(f"{folder / file.name}\n{_changes(file)}" for file in made.files)


def _changes(file: Written) -> str:
    return "".join(f"  {change}\n" for change in file.changes or ("as it was, but for its layout",))
