"""What a run leaves for people and for other programs."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path

from atomcfg.plan import Plan
from atomrun.folder import write_whole
from atomrun.frames import parquet
from atomrun.resultio import dump
from atomrun.results import RunResult

from .deck import deck
from .summary import summary

__all__ = ["write"]


def write(run_dir: Path, result: RunResult, plan: Plan, logs: Mapping[str, str]) -> list[Path]:
    """Write every report into `run_dir` and return the paths, `verdicts.json` first.

    `logs` are the texts that the deck shows by title, the first error first, already redacted. `junit.xml` is
    left out when junitparser (the extra `junit`) is not installed. A file appears whole or not at all.
    """
    documents = {
        "verdicts.json": dump(result).encode(),
        "summary.md": summary(result).encode(),
        "report.html": deck(result, plan, logs).encode(),
        "metrics.parquet": parquet(result),
    }
    if importlib.util.find_spec("junitparser") is not None:
        from .junit import junit

        documents["junit.xml"] = junit(result)
    for name, data in documents.items():
        write_whole(run_dir / name, data)
    return [run_dir / name for name in documents]
