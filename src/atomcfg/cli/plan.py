"""`atomcfg plan`: compile, show or write."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from atomcfg.planio import as_document

from .compiling import compile_files, parse_override
from .output import EXIT_ERRORS, EXIT_WARNINGS, complain, report, write_file
from .picture import draw

__all__ = ["run_plan"]


def run_plan(args: argparse.Namespace) -> int:
    """Exit status: 0, 1 for warnings under --strict, 2 for errors."""
    config = args.config or args.config_file
    if config is None:
        return complain("plan needs a config", "atomcfg plan CONFIG; atomcfg list shows the shipped ones")
    if args.commands and not args.dry_run:
        return complain(
            "--commands belongs to --dry-run", "atomcfg show PLAN --commands shows those of a written plan"
        )
    overrides = []
    for text in args.overrides:
        override = parse_override(text)
        if override is None:
            return complain(f"--set {text}: there is no value", "write --set PATH=VALUE")
        overrides.append(override)
    result = compile_files(
        config,
        cluster=args.cluster,
        lab=args.lab,
        profile=args.config_profile,
        overrides=overrides,
        dry_run=args.dry_run,
    )
    warned = report(result.diagnostics, args)
    if result.plan is None:
        return EXIT_ERRORS
    if args.strict and warned:
        complain("no plan: warnings count as errors here", "correct them, or leave --strict out")
        return EXIT_WARNINGS
    if args.dry_run:
        shown = json.dumps(as_document(result.plan), indent=2) if args.format == "json" else None
        sys.stdout.write((shown or draw(result.plan, commands=args.commands)) + "\n")
    elif args.output:
        return write_file(Path(args.output), result.text)
    else:
        sys.stdout.write(result.text)
    return 0
