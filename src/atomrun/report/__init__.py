"""What a run leaves for people and for other programs."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from atomcfg.plan import Plan
from atomrun.comparison import sheet_of
from atomrun.folder import write_whole
from atomrun.frames import parquet
from atomrun.resultio import dump
from atomrun.results import RunResult

from .deck import deck
from .document import document
from .material import References, gather
from .summary import summary

__all__ = ["References", "write"]


def write(run_dir: Path, result: RunResult, plan: Plan, references: References | None = None) -> list[Path]:
    """Write every report into `run_dir` and return the paths, `verdicts.json` first.

    What the deck shows of logs and GPU polls is read from `run_dir`. `junit.xml` is left out when junitparser (the
    extra `junit`) is not installed. A file appears whole or not at all.
    """
    sheet = sheet_of(result, plan)
    material = gather(run_dir, sheet, references or References())
    documents = {
        "verdicts.json": dump(result).encode(),
        "report.json": document(sheet, material.panels).encode(),
        "summary.md": summary(result).encode(),
        "report.html": deck(result, plan, material).encode(),
        "metrics.parquet": parquet(result),
    }
    if importlib.util.find_spec("junitparser") is not None:
        from .junit import junit

        documents["junit.xml"] = junit(result)
    for name, data in documents.items():
        write_whole(run_dir / name, data)
    return [run_dir / name for name in documents]
