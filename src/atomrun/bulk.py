"""Many specs against many stored measurements at once: the comparisons of `gate.judge`, by columns.

For questions about whole series of runs: would these bounds have held? A run itself is judged by `gate`, which also
says why; `tests/atomrun/test_bulk.py` proves that both come to the same end. polars is imported when used.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from atomcfg.plan import Spec

from .results import Status

if TYPE_CHECKING:
    import polars

__all__ = ["judged", "spec_frame"]

_FLOORS = ("min", "min_tok_s", "min_ratio")
_CEILINGS = ("max", "max_ms")


def spec_frame(specs: Iterable[tuple[str, Spec]]) -> polars.DataFrame:
    """One row per (owner, spec): owner, metric, kind, bound, tolerance_pct, reference."""
    import polars

    kinds = {
        "owner": polars.String,
        "metric": polars.String,
        "kind": polars.String,
        "bound": polars.Float64,
        "tolerance_pct": polars.Float64,
        "reference": polars.String,
    }
    rows = [
        (owner, spec.metric, spec.kind, spec.value, spec.tolerance_pct, spec.reference) for owner, spec in specs
    ]
    return polars.DataFrame(rows, schema=kinds, orient="row")


def judged(specs: polars.DataFrame, measured: polars.DataFrame) -> polars.DataFrame:
    """`specs` with the columns actual, status and margin_pct, in the same order.

    `measured` has owner, metric and value, at most one row for each owner and metric. As in `gate`, the actual of
    `min_ratio` is the ratio. Every actual is asked for finiteness first: polars orders NaN above every number.
    """
    import polars as pl

    frame = specs.join(measured, on=("owner", "metric"), how="left", maintain_order="left")
    frame = frame.rename({"value": "raw"})
    if specs["reference"].null_count() < specs.height:
        bases = measured.rename({"metric": "reference", "value": "base"})
        frame = frame.join(bases, on=("owner", "reference"), how="left", maintain_order="left")
    else:
        frame = frame.with_columns(base=pl.lit(None, pl.Float64))
    kind, raw = pl.col("kind"), pl.col("raw")
    actual = pl.when(kind == "min_ratio").then(raw / pl.col("base")).otherwise(raw)
    frame = frame.with_columns(actual=actual).with_columns(room=_room())
    held = pl.col("actual").is_finite() & pl.col("bound").is_finite() & (pl.col("room") >= 0)
    status = (
        pl.when(raw.is_null())
        .then(pl.lit(Status.SKIPPED.value))
        .when(kind == "info")
        .then(pl.lit(Status.INFO.value))
        .when(held.fill_null(value=False))
        .then(pl.lit(Status.PASS.value))
        .otherwise(pl.lit(Status.FAIL.value))
    )
    margin = 100 * pl.col("room") / pl.col("bound").abs()
    return frame.select(
        *specs.columns, "actual", status=status, margin_pct=pl.when(margin.is_finite()).then(margin)
    )


def _room() -> polars.Expr:
    """How far the actual lies on the passing side of its bound."""
    import polars as pl

    kind, actual, bound, tolerance = (pl.col(name) for name in ("kind", "actual", "bound", "tolerance_pct"))
    width = pl.when(tolerance >= 0).then(bound.abs() * tolerance / 100)
    return (
        pl.when(kind.is_in(_FLOORS))
        .then(actual - bound)
        .when(kind.is_in(_CEILINGS))
        .then(bound - actual)
        .when(kind == "within")
        .then(pl.min_horizontal(actual - (bound - width), (bound + width) - actual))
    )
