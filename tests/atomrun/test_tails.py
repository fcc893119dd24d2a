from __future__ import annotations

import pytest

from atomrun.tails import needed, thin_tail


@pytest.mark.parametrize(
    ("metric", "requests", "beyond"),
    [
        ("p99_ttft_ms", 100, 1),
        ("p99_ttft_ms", 20, 1),
        ("p99_e2el_ms", 499, 4),
        ("p99_tpot_ms", 500, None),
        ("p95_ttft_ms", 80, 4),
        ("p95_ttft_ms", 100, None),
        ("p90_ttft_ms", 49, 4),
        ("p90_ttft_ms", 50, None),
        ("p99_itl_ms", 10, None),
        ("mean_ttft_ms", 1, None),
    ],
)
def test_a_percentile_of_too_few_requests(metric: str, requests: int, beyond: int | None) -> None:
    assert thin_tail(metric, requests) == beyond


@pytest.mark.parametrize(("metric", "count"), [("p99_ttft_ms", 500), ("p95_e2el_ms", 100), ("p90_tpot_ms", 50)])
def test_from_how_many_on_it_counts(metric: str, count: int) -> None:
    assert needed(metric) == count
    assert thin_tail(metric, count) is None
    assert thin_tail(metric, count - 1) is not None
