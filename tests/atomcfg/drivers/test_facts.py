"""The facts that other passes ask a driver for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atomcfg.drivers import DRIVERS
from atomcfg.metrics import GATED

from .factory import make


@pytest.mark.parametrize(
    ("driver", "length", "ratio", "low", "high"),
    [
        ("atom", 1024, 0.8, 819, 1024),
        ("atom", 1, 0.8, 0, 1),
        ("sglang", 1024, 0.8, 819, 1024),
        ("sglang", 1, 0.8, 1, 1),
        ("vllm", 1024, 0.8, 204, 1844),
        ("vllm_atom", 1024, 0.0, 1024, 1024),
        ("vllm", 1, 0.8, 1, 2),
    ],
)
def test_lengths(driver: str, length: int, ratio: float, low: int, high: int) -> None:
    found = DRIVERS[driver].lengths(length, ratio)
    assert (found.low, found.high) == (low, high)


@given(st.sampled_from(sorted(DRIVERS)), st.integers(1, 1 << 20), st.floats(0, 0.999))
def test_lengths_hold_the_length_that_was_asked_for(driver: str, length: int, ratio: float) -> None:
    found = DRIVERS[driver].lengths(length, ratio)
    assert 0 <= found.low <= length <= found.high


@pytest.mark.parametrize(
    ("stated", "gated", "asked"),
    [
        ("95,99", [], "95,99"),
        ("99, 95", ["95"], "99, 95"),
        ("95", [], "95,99"),
        ("95,99", ["90", "99.9"], "90,95,99,99.9"),
        ("", [], "99"),
    ],
)
def test_percentiles(stated: str, gated: list[str], asked: str) -> None:
    for driver in ("atom", "vllm", "vllm_atom"):
        settings = make(driver=driver, metric_percentiles=stated)
        assert DRIVERS[driver].percentiles(settings, frozenset(gated)) == asked
    assert DRIVERS["sglang"].percentiles(make(driver="sglang"), frozenset(gated)) == ""


def test_clients_that_take_percentiles_report_every_gated_metric() -> None:
    for driver in ("atom", "vllm", "vllm_atom"):
        assert all(DRIVERS[driver].produces(make(driver=driver), metric) for metric in GATED)


def test_sglangs_client_reports_a_fixed_set() -> None:
    missing = {metric for metric in GATED if not DRIVERS["sglang"].produces(make(driver="sglang"), metric)}
    assert missing == {f"{p}_{name}_ms" for p in ("p90", "p95") for name in ("ttft", "tpot", "e2el")}


@pytest.mark.parametrize(
    ("driver", "metric", "known"),
    [
        ("atom", "p95_e2el_ms", False),
        ("atom", "mean_ttft_ms", True),
        ("atom", "decode_latency_ratio", False),
        ("atom", "decode_throughput_p50", True),
        ("atom", "max_output_tokens_per_s", False),
        ("vllm", "max_output_tokens_per_s", True),
        ("sglang", "max_output_tokens_per_s", True),
        ("sglang", "decode_latency_ratio", True),
        ("vllm", "gpu.power_w", True),  # nothing that the client could miss
    ],
)
def test_produces(driver: str, metric: str, known: bool) -> None:
    settings = make(driver=driver, percentile_metrics="ttft, tpot")
    assert DRIVERS[driver].produces(settings, metric) is known


CHANGED: dict[str, Any] = {
    "backend": "openai",
    "base_url": "http://10.0.0.9",
    "burstiness": "2",
    "random_prefix_len": 5,
    "tokenizer_mode": "slow",
    "percentile_metrics": "ttft",
    "metric_percentiles": "99",
    "seed": 3,
}


@pytest.mark.parametrize(
    ("driver", "unused"),
    [
        ("atom", {"backend", "base_url"}),
        ("vllm", set()),
        ("vllm_atom", set()),
        ("sglang", set(CHANGED) - {"seed"}),
    ],
)
def test_unused(driver: str, unused: set[str]) -> None:
    assert DRIVERS[driver].unused(make(driver=driver, **CHANGED)).keys() == unused
    assert not DRIVERS[driver].unused(make(driver=driver))


@pytest.mark.parametrize(
    ("driver", "arguments", "replicas", "speculative"),
    [
        ("atom", {"atom_args": []}, 1, False),
        ("atom", {"atom_args": ["-dp", "4", "--method=mtp"]}, 4, True),
        ("vllm", {}, 1, False),
        ("vllm", {"serve_args": {"data_parallel_size": 2, "speculative-config": {"method": "mtp"}}}, 2, True),
        ("vllm", {"serve_args": {"speculative-config.method": "mtp"}}, 1, True),
        ("vllm", {"serve_args": {"speculative-config": None}}, 1, False),
        ("sglang", {"sglang_args": ["x", "--dp", "2"]}, 2, False),
        ("sglang", {"sglang_args": ["--dp", "8", "--enable-dp-attention"]}, 1, False),
        ("sglang", {"sglang_args": ["--speculative-algo", "EAGLE"]}, 1, True),
    ],
)
def test_replicas_and_speculation(driver: str, arguments: dict[str, Any], replicas: int, speculative: bool) -> None:
    settings = make({"roles": {"server": arguments}}, driver=driver)
    assert DRIVERS[driver].data_parallel(settings) == replicas
    assert DRIVERS[driver].speculative(settings) is speculative
