"""What every command does at the edge: report diagnostics, write files, complain, choose the exit status."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from atomcfg.diagnostics import Diagnostic, Severity
from atomcfg.render.text import render_text
from atomcfg.suggest import counted

__all__ = ["EXIT_ERRORS", "EXIT_WARNINGS", "complain", "render", "report", "summarise", "use_color", "write_file"]

EXIT_WARNINGS, EXIT_ERRORS = 1, 2


def use_color(choice: str, stream: TextIO) -> bool:
    """Colour on a terminal, unless NO_COLOR is set; the option wins."""
    if choice != "auto":
        return choice == "always"
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def report(diagnostics: Iterable[Diagnostic], args: argparse.Namespace) -> bool:
    """Show what was found on standard error; true if warnings were among it."""
    found = list(diagnostics)
    least = {Severity.ERROR} if args.quiet else {Severity.ERROR, Severity.WARNING}
    if args.verbose:
        least.add(Severity.NOTE)
    shown = [item for item in found if item.severity in least]
    if shown:
        sys.stderr.write(render_text(shown, color=use_color(args.color, sys.stderr)))
    summary = summarise(shown)
    if summary:
        notes = [item for item in found if item.severity is Severity.NOTE]
        hidden = f"; {counted(notes, 'note')} with -v" if notes and not args.verbose and not args.quiet else ""
        sys.stderr.write(f"{summary}{hidden}\n")
    return any(item.severity is Severity.WARNING for item in found)


def summarise(found: Iterable[Diagnostic]) -> str:
    """`2 errors, 1 warning`, or nothing."""
    severities = [item.severity for item in found]
    counts = {severity: severities.count(severity) for severity in Severity}
    return ", ".join(f"{count} {name.value}{'s' if count != 1 else ''}" for name, count in counts.items() if count)


def render(found: Iterable[Diagnostic], args: argparse.Namespace) -> str:
    """Diagnostics in the format that was asked for."""
    if args.format == "json":
        from atomcfg.render.json import render_json

        return render_json(found)
    if args.format == "github":
        from atomcfg.render.github import render_github

        return render_github(found)
    if args.format == "sarif":
        from atomcfg.render.sarif import render_sarif

        return render_sarif(found)
    return render_text(found, color=use_color(args.color, sys.stdout))


def complain(message: str, hint: str = "") -> int:
    """A fault of usage, on one line."""
    sys.stderr.write(f"error: {message}\n" + (f"hint: {hint}\n" if hint else ""))
    return EXIT_ERRORS


def write_file(path: Path, text: str) -> int:
    """Write a file whole or not at all."""
    import tempfile  # here, because a dry run writes none

    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as stream:
            stream.write(text)
        os.chmod(stream.name, 0o644)  # noqa: PTH101  # a plan holds no secret; temporary files are 0600
        Path(stream.name).replace(path)
    except OSError as error:
        return complain(f"cannot write {path}: {error.strerror or error}")
    return 0
