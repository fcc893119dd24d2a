from __future__ import annotations

import io
import math
import subprocess
import sys

import polars
from attrs import evolve
from tests.judging import make_result

from atomrun.frames import measurements, parquet
from atomrun.results import BlockResult


def test_one_row_per_measurement() -> None:
    result = make_result()
    frame = measurements(result)
    assert frame.columns == ["run", "cell", "key", "repeat", "metric", "value", "unit"]
    owners = (*result.cells, *result.blocks)
    assert frame.height == sum(len(owner.values) for owner in owners)
    (row,) = frame.filter(cell="balanced0-conc16", metric="output_tput_per_gpu").rows()
    assert row == (
        "run-1",
        "balanced0-conc16",
        "ISL=1024,OSL=1024,TP=8,PP=1,CONC=16",
        1,
        "output_tput_per_gpu",
        400.0,
        "tok/s",
    )
    assert frame.filter(metric="gpu.power_w").rows() == [("run-1", "10.0.0.1", "", 0, "gpu.power_w", 5600.0, "W")]


def test_only_finite_values_and_unknown_names_without_a_unit() -> None:
    block = BlockResult("gpu_metrics", "n0", "ok", "", 1.0, {"gpu.power_w": math.nan, "own figure": 3.0}, (), ())
    frame = measurements(evolve(make_result(), cells=(), blocks=(block,)))
    assert frame.rows() == [("run-1", "n0", "", 0, "own figure", 3.0, "")]


def test_an_empty_result_has_the_same_columns() -> None:
    assert measurements(evolve(make_result(), cells=(), blocks=())).schema == measurements(make_result()).schema


def test_parquet_is_read_back() -> None:
    result = make_result()
    assert polars.read_parquet(io.BytesIO(parquet(result))).equals(measurements(result))


def test_polars_is_loaded_when_used() -> None:
    code = "import sys, atomrun.frames, atomrun.report; sys.exit('polars' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
