"""The published schemas: the single statement of the shape of every document.

In a wheel they are package data; in a checkout they lie at its top level. Nothing else of this library is read
from disk.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["load_schema", "schema_names", "schema_text"]

_SUFFIX = ".schema.json"


def _folder(package: Path) -> Path:
    packaged = package / "schemas"
    return packaged if packaged.is_dir() else package.parents[1] / "schemas"


@cache
def schema_names() -> tuple[str, ...]:
    """Every schema by name (`config-flat`), sorted."""
    folder = _folder(Path(__file__).parent)
    return tuple(sorted(path.name.removesuffix(_SUFFIX) for path in folder.glob(f"*{_SUFFIX}")))


@cache
def schema_text(name: str) -> str:
    """The text of a schema. A name that `schema_names` does not list is a `KeyError`."""
    if name not in schema_names():
        raise KeyError(name)
    return (_folder(Path(__file__).parent) / f"{name}{_SUFFIX}").read_text("utf-8")


@cache
def load_schema(name: str) -> dict[str, Any]:
    """A schema as a value, shared: not to be changed."""
    schema = json.loads(schema_text(name))
    assert isinstance(schema, dict)
    return schema
