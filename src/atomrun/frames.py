"""Measurements as a polars frame, for `metrics.parquet` and for comparisons. polars is imported when used.

Beware: polars orders NaN above every number. A frame from here holds finite values only.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from atomcfg.metrics import find

from .results import RunResult

if TYPE_CHECKING:
    import polars

__all__ = ["measurements", "parquet"]

_SCHEMA = ("run", "cell", "key", "repeat", "metric", "value", "unit")


def measurements(result: RunResult) -> polars.DataFrame:
    """One row per measurement of a cell or check (whose key is ""); `repeat` is the attempt."""
    import polars

    kinds = dict.fromkeys(_SCHEMA, polars.String) | {"repeat": polars.Int32, "value": polars.Float64}
    return polars.DataFrame(list(_rows(result)), schema=kinds, orient="row")


def parquet(result: RunResult) -> bytes:
    """The bytes of `metrics.parquet`."""
    buffer = io.BytesIO()
    measurements(result).write_parquet(buffer, compression="zstd")
    return buffer.getvalue()


Row = tuple[str, str, str, int, str, float, str]


def _rows(result: RunResult) -> Iterator[Row]:
    for cell in result.cells:
        yield from _values(result.run_id, cell.id, cell.key, cell.attempt, cell.values)
    for block in result.blocks:
        yield from _values(result.run_id, block.id, "", 0, block.values)


def _values(run: str, cell: str, key: str, repeat: int, values: Mapping[str, float]) -> Iterator[Row]:
    for metric, value in values.items():
        known = find(metric)
        if math.isfinite(value):
            yield run, cell, key, repeat, metric, value, known.unit if known else ""
