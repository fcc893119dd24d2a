"""`atomcfg list`: the shipped configs."""

from __future__ import annotations

import argparse
import sys

from atomcfg.cli.shipped import examples, examples_folder

__all__ = ["run_list"]


def run_list(_args: argparse.Namespace) -> int:
    """One line a config: stem, profiles, driver, nodes, model."""
    rows = [("STEM", "PROFILES", "DRIVER", "NODES", "MODEL")]
    rows += [
        (item.stem, ", ".join(item.profiles), ", ".join(item.drivers), str(item.nnodes), item.model)
        for item in examples()
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    for row in rows:
        line = "  ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True))
        sys.stdout.write(line.rstrip() + "\n")
    sys.stdout.write(f"in {examples_folder()}\n")
    return 0
