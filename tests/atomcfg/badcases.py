"""Run the command line on a folder of `bad/`, in a dialect, and tell what a user sees.

A folder holds `config.json` and, if it matters, `threshold.json` (any `*threshold.json`), `cluster.json`,
`lab.toml` and `args.json`: `args` after the usual ones, `env`, `name` of the config, `asked` instead of it,
`cluster` (false for none), `dialects` where it is no fault in every one.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from atomcfg.__main__ import main

from .compiling import cluster
from .dialects import DIALECTS, in_dialect

__all__ = ["BAD", "expected_file", "folders", "messages", "run"]

BAD = Path(__file__).parent / "bad"
NAME = "mi300x_atom_model_fp8_single.json"


def folders() -> Iterator[Path]:
    """Every case, by name."""
    return (path for path in sorted(BAD.iterdir()) if path.is_dir())


def expected_file(folder: Path, dialect: str) -> Path:
    """Where the whole text is kept: for other dialects than the file's own only where its words differ."""
    return folder / ("expected.txt" if dialect == "flat" else f"expected.{dialect}.txt")


def messages(text: str) -> list[str]:
    """What is said, without the places and source lines, which are each dialect's own."""
    said = r"(error|warning|note)(\[|: )|hint: |exit |\d+ (error|warning|note)"
    return [line for line in text.splitlines() if re.match(said, line)]


def run(folder: Path, dialect: str, workplace: Path) -> str | None:
    """Standard error and the exit status; None where the dialect cannot hold the case."""
    args = _json(folder / "args.json")
    config = _config((folder / "config.json").read_bytes(), dialect)
    if config is None or dialect not in args.get("dialects", DIALECTS):
        return None
    name = args.get("name", NAME)
    (workplace / name).write_bytes(config)
    (workplace / "cluster.json").write_text(json.dumps(cluster(), indent=2))
    for path in folder.iterdir():
        if path.name in ("cluster.json", "lab.toml") or path.name.endswith("threshold.json"):
            shutil.copy(path, workplace)
    argv = ["plan", args.get("asked", name), "-v", "-o", "plan.json"]
    argv += ["--cluster", "cluster.json"] if args.get("cluster", True) else []
    stderr = io.StringIO()
    with (
        contextlib.chdir(workplace),
        contextlib.redirect_stderr(stderr),
        patch.dict(os.environ, {"LOGNAME": "alice", **args.get("env", {})}),
    ):
        status = main([*argv, *args.get("args", [])])
    return f"{stderr.getvalue()}exit {status}\n"


def _config(data: bytes, dialect: str) -> bytes | None:
    """The text in a dialect. Only a flat configuration can be turned into the others."""
    if dialect == "flat":
        return data
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return None  # the fault is in the text, not in what it says
    if not isinstance(value, dict) or {"profiles", "server_params"} & set(value):
        return None
    made = in_dialect(value, dialect)
    return None if made is None else json.dumps(made, indent=2).encode()


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key is there twice")
    return made


def _json(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text("utf-8")) if path.exists() else {}
