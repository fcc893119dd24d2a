"""The shipped examples: in a wheel they are package data, in a checkout they lie at its top level."""

from __future__ import annotations

import json
from pathlib import Path

from attrs import frozen

__all__ = ["Example", "examples", "examples_folder"]


@frozen
class Example:
    """A shipped config: its stem, profiles, driver by profile, nodes, and the files that belong to it."""

    stem: str
    profiles: tuple[str, ...]
    drivers: tuple[str, ...]
    nnodes: int
    model: str
    threshold: str


def examples_folder() -> Path:
    """Where the examples lie."""
    package = Path(__file__).parents[1]
    packaged = package / "examples"
    return packaged if packaged.is_dir() else package.parents[1] / "examples"


def examples() -> tuple[Example, ...]:
    """Every shipped config, sorted by stem."""
    return tuple(_example(path) for path in sorted(examples_folder().glob("*_atom_*.json")) if _is_config(path))


def _is_config(path: Path) -> bool:
    return not path.name.endswith("threshold.json")


def _example(path: Path) -> Example:
    top = json.loads(path.read_text("utf-8"))
    profiles = top.get("profiles") or {"perf": top}
    params = [
        {**(body.get("server_params") or {}), **(top.get("params") or {}), **(body.get("params") or {})}
        for body in profiles.values()
    ]
    return Example(
        stem=path.stem,
        profiles=tuple(profiles),
        drivers=tuple(dict.fromkeys(str(item.get("driver") or item.get("backend")) for item in params)),
        nnodes=int(params[0].get("nnodes", 1)),
        model=str((top.get("model") or {}).get("id", "")),
        threshold=str(top.get("threshold_json", "")),
    )
