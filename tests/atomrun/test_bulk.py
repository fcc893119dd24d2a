from __future__ import annotations

import math

import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.judging import make_spec

from atomcfg.plan import Spec
from atomrun.bulk import judged, spec_frame
from atomrun.gate import judge
from atomrun.results import Status

TTFT, THROUGHPUT, TOTAL = "mean_ttft_ms", "output_throughput", "total_token_throughput"
EDGES = (0.0, -0.0, 5e-324, 0.1, 1 / 3, 100.0, 1e308, -1.0, math.nan, math.inf, -math.inf)
NUMBERS = st.sampled_from(EDGES) | st.floats() | st.floats(90, 110)


@st.composite
def specs(draw: st.DrawFn) -> Spec:
    kind = draw(st.sampled_from(["min", "min_tok_s", "max", "max_ms", "within", "min_ratio", "info", "at_least"]))
    made = make_spec(THROUGHPUT, kind, draw(NUMBERS | st.none()))
    return Spec(
        made.metric,
        made.kind,
        made.value,
        draw(st.sampled_from([None, 0.0, 5.0, 10.0, -5.0, math.nan])) if kind == "within" else None,
        TOTAL if kind == "min_ratio" else None,
        made.unit,
        made.tier,
        made.enforced,
        made.vacuous,
    )


def frame_of(values: dict[str, float], owner: str = "c") -> polars.DataFrame:
    kinds = {"owner": polars.String, "metric": polars.String, "value": polars.Float64}
    return polars.DataFrame([(owner, *item) for item in values.items()], schema=kinds, orient="row")


@given(specs(), st.dictionaries(st.sampled_from([THROUGHPUT, TOTAL]), NUMBERS))
def test_columns_come_to_the_same_end_as_single_verdicts(spec: Spec, values: dict[str, float]) -> None:
    single = judge(spec, values)
    (row,) = judged(spec_frame([("c", spec)]), frame_of(values)).rows(named=True)
    assert row["status"] == single.status
    if single.margin_pct is None:
        assert row["status"] != Status.PASS or row["margin_pct"] is None
    else:
        assert row["margin_pct"] == pytest.approx(single.margin_pct, abs=1e-9, rel=1e-6)


def test_rows_keep_their_order_and_their_owner() -> None:
    rows = [
        ("b", make_spec(TTFT, "max_ms", 10)),
        ("a", make_spec(TTFT, "max_ms", 10)),
        ("c", make_spec(TTFT, "info")),
    ]
    measured = polars.concat([frame_of({TTFT: 5.0}, "a"), frame_of({TTFT: 50.0}, "b")])
    found = judged(spec_frame(rows), measured)
    assert found.select("owner", "actual", "status", "margin_pct").rows() == [
        ("b", 50.0, "FAIL", -400.0),
        ("a", 5.0, "PASS", 50.0),
        ("c", None, "SKIPPED", None),
    ]


def test_nothing_to_judge() -> None:
    assert judged(spec_frame([]), frame_of({})).height == 0
