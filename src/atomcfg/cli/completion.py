"""`atomcfg --print-completion SHELL`: a completion script, made by shtab (the extra `completion`)."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence

__all__ = ["SHELLS", "PrintCompletion"]

SHELLS = ("bash", "zsh", "tcsh")
_FILES = ("FILE", "PATH", "CONFIG", "PLAN", "A", "B")
_FOLDERS = ("DIR",)


class PrintCompletion(argparse.Action):
    """Prints the script for a shell and exits, as `--version` does."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,  # noqa: ARG002, argparse gives it to every action
        values: str | Sequence[object] | None,
        option_string: str | None = None,  # noqa: ARG002, likewise
    ) -> None:
        try:
            import shtab
        except ImportError:
            parser.exit(2, "error: completion needs shtab\nhint: pip install 'atomcfg[completion]'\n")
        for action in _actions(parser):
            _describe(action, shtab.FILE, shtab.DIRECTORY)
        sys.stdout.write(shtab.complete(parser, str(values)))
        parser.exit()


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:  # argparse has no public way to list them
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from _actions(inner)


def _describe(action: argparse.Action, files: object, folders: object) -> None:
    """Say what an argument takes: shtab completes files and folders, and what is listed as choices."""
    if action.metavar in _FILES and action.dest != "path":  # a path in a plan is no file
        action.complete = files  # type: ignore[attr-defined]  # read by shtab
    elif action.metavar in _FOLDERS:
        action.complete = folders  # type: ignore[attr-defined]  # read by shtab
    elif action.choices is None:
        action.choices = list(_names(action.dest)) or None


def _names(dest: str) -> Iterable[str]:
    """What an argument names that this program knows."""
    if dest == "stems":
        from atomcfg.cli.shipped import examples

        return [example.stem for example in examples()]
    if dest == "code":
        from atomcfg.catalogue import CATALOGUE

        return list(CATALOGUE)
    if dest == "name":
        from atomcfg.schemas import schema_names

        return schema_names()
    return ()
