"""What the GPU tools say, over their versions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from atomrun.gpu import Sample, lately, parse_poll, summary


def value(number: Any) -> dict[str, Any]:
    return {"value": number, "unit": "x"}


def gpu(**sections: Any) -> dict[str, Any]:
    return {"gpu": 0, **sections}


ROCM_60 = [
    gpu(usage={"gfx_usage": 98, "mem_usage": 13}, power={"current_power": 734}, mem_usage={"used_vram": 178898})
]
ROCM_63 = [
    gpu(
        usage={"gfx_activity": value(98), "umc_activity": value(13), "mm_activity": "N/A"},
        power={"socket_power": value(734), "gfx_voltage": value("N/A")},
        mem_usage={"used_vram": value(178898)},
    )
]
PARTITION = [gpu(usage="N/A", power={"socket_power": value("N/A")}, mem_usage={"used_vram": value(0)})]
FULL = Sample(5.5, "0", 178898.0, 98.0, 13.0, 734.0)


def poll(document: Any, tool: str = "amd-smi", prefix: str = "") -> tuple[Sample, ...]:
    return parse_poll(f"noise\n@ 5.50 {tool}\n{prefix}{json.dumps(document)}\n")


@pytest.mark.parametrize("document", [ROCM_60, ROCM_63, {"gpu_data": ROCM_63}])
def test_amd_smi_of_any_version(document: Any) -> None:
    assert poll(document) == (FULL,)


def test_a_warning_before_the_document() -> None:
    assert poll(ROCM_63, prefix="'CTRL' + 'C' to stop watching output: ") == (FULL,)


def test_missing_is_not_zero() -> None:
    assert poll(PARTITION) == (Sample(5.5, "0", 0.0, None, None, None),)
    assert poll([gpu(mem_usage={"used_vram": True})]) == (Sample(5.5, "0", None, None, None, None),)


@pytest.mark.parametrize(
    "document", [{"error": "Can not find a device", "code": -3}, "text", 7, [{"cpu": 0}], ["x"]]
)
def test_what_is_no_sample_is_left_out(document: Any) -> None:
    assert poll(document) == ()


@pytest.mark.parametrize(
    "text",
    ["", "@ 1.0 amd-smi\n", "@ 1.0 amd-smi\nsh: not found\n", "@ 1.0 rocm-smi\n[1]\n", "@ 1.0 amd-smi\n{bad\n"],
)
def test_what_is_no_json_is_left_out(text: str) -> None:
    assert parse_poll(text) == ()


@pytest.mark.parametrize("busy", ["GPU memory use (%)", "GPU Memory Read/Write Activity (%)"])
@pytest.mark.parametrize(
    "power", ["Average Graphics Package Power (W)", "Current Socket Graphics Package Power (W)"]
)
def test_rocm_smi_of_any_version(busy: str, power: str) -> None:
    card = {
        "GPU use (%)": "98",
        busy: "13",
        power: "734.0",
        "VRAM Total Used Memory (B)": str(1000 << 20),
        "x": "N/A",
    }
    document = {"card0": card, "system": {"Driver version": "6.8"}}
    assert poll(document, "rocm-smi") == (Sample(5.5, "0", 1000.0, 98.0, 13.0, 734.0),)
    assert poll({"card1": {"GPU use (%)": "N/A"}}, "rocm-smi") == (Sample(5.5, "1", None, None, None, None),)


def test_a_summary_takes_the_highest_memory_and_means_of_the_rest() -> None:
    samples = (FULL, Sample(6.5, "1", 5.0, 50.0, None, 266.0))
    assert summary(samples) == {
        "gpu.peak_gpu_memory_mb": 178898.0,
        "gpu.gpu_compute_util_pct": 74.0,
        "gpu.gpu_bandwidth_util_pct": 13.0,
        "gpu.power_w": 500.0,
    }
    assert summary(()) == {}


def test_the_last_seconds_of_a_poll_are_those_of_the_cell() -> None:
    samples = tuple(Sample(10.0 * at, gpu, None, None, None, 100.0 * at) for at in range(1, 7) for gpu in "01")
    assert {sample.uptime for sample in lately(samples, 25.0)} == {40.0, 50.0, 60.0}
    assert summary(lately(samples, 25.0)) == {"gpu.power_w": 500.0}


@pytest.mark.parametrize("seconds", [0.0, 5.0, 10.0])
def test_one_moment_may_lie_before_the_cell(seconds: float) -> None:
    assert lately((Sample(10.0, "0", 1, 1, 1, 1), Sample(20.0, "0", 1, 1, 1, 1)), seconds) == ()
    assert lately((), seconds) == ()
