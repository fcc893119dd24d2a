"""New files in a folder: all of them, and none over another."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from .output import complain, write_file

__all__ = ["write_new"]


def write_new(folder: Path, texts: Mapping[str, str]) -> int:
    """Write `texts` by path below `folder`, which is made. If one of the files exists, none is written."""
    taken = [folder / name for name in texts if (folder / name).exists()]
    if taken:
        more = f" (and {len(taken) - 1} more)" if len(taken) > 1 else ""
        return complain(f"{taken[0]} exists{more}: nothing was written", "choose another folder, or move it away")
    for name, text in texts.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            return complain(f"cannot make {path.parent}: {error.strerror or error}")
        status = write_file(path, text)
        if status:
            return status
    return 0
