"""Writing a client's result, and the ways in which that can go wrong."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from .dialect import Json
from .faults import Faults

__all__ = ["MARK", "leave"]

MARK = "standin"  # the key that tells a stand-in's result from a real one
_STALE_S = 86_400.0


def leave(path: Path, result: dict[str, Json], faults: Faults, append: bool = False) -> None:
    """Write `result` as one line of JSON (`append`: as a further line). Raises `OSError` as `open` does."""
    if faults.client_dies:
        raise SystemExit(faults.client_dies)
    if faults.no_artifact:
        return
    if faults.nan:
        result = {**result, faults.nan: float("nan")}
    if faults.stale_artifact and "date" in result:
        result = {**result, "date": time.strftime("%Y%m%d-%H%M%S", time.localtime(time.time() - _STALE_S))}
    text = json.dumps({**result, MARK: True})
    if faults.truncate:
        text = text[: len(text) // 2]
    with path.open("a" if append else "w", encoding="utf-8") as file:
        file.write(text + "\n" if append else text)
    if faults.stale_artifact:
        yesterday = time.time() - _STALE_S
        os.utime(path, (yesterday, yesterday))
