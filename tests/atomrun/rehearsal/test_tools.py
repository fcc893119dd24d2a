"""The stand-ins of the host's tools, in the shapes of ROCm 7."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from atomrun.gpu import parse_poll, summary

from .running import BIN, environment


def tool(*argv: str, **env: str) -> subprocess.CompletedProcess[str]:
    command = [str(BIN / argv[0]), *argv[1:]]
    return subprocess.run(command, env=environment(**env), text=True, capture_output=True, timeout=30, check=False)


def said(*argv: str, **env: str) -> Any:
    done = tool(*argv, **env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_metrics_are_below_gpu_data() -> None:
    gpus = said("amd-smi", "metric", "--json", STANDIN_GPUS="2")["gpu_data"]
    assert [gpu["gpu"] for gpu in gpus] == [0, 1]
    assert gpus[0]["usage"]["gfx_activity"] == {"value": 0, "unit": "%"}
    assert gpus[0]["usage"]["mm_activity"] == "N/A"
    assert gpus[0]["power"]["socket_power"]["unit"] == "W"
    assert gpus[0]["power"]["gfx_voltage"] == {"value": "N/A", "unit": "mV"}
    assert gpus[0]["mem_usage"]["total_vram"] == {"value": 294896, "unit": "MB"}
    assert gpus[0]["mem_usage"]["used_vram"] == {"value": 283, "unit": "MB"}
    assert "total_uncorrectable_count" in gpus[0]["ecc"]


def test_sections_and_gpus_can_be_chosen() -> None:
    (gpu,) = said("amd-smi", "metric", "--usage", "--mem-usage", "-g", "3", "--json")["gpu_data"]
    assert list(gpu) == ["gpu", "usage", "mem_usage"]
    assert gpu["gpu"] == 3


@pytest.mark.parametrize("argv", [["metric", "--usage", "--power", "--mem-usage", "--json"], ["metric", "--json"]])
def test_a_poll_reads_it(argv: list[str]) -> None:
    env = {"STANDIN_GPU_USED_MB": "200000", "STANDIN_GPU_BUSY_PCT": "90"}
    found = summary(parse_poll("\n@ 1.0 amd-smi\n" + tool("amd-smi", *argv, **env).stdout))
    assert found["gpu.peak_gpu_memory_mb"] == 200001.0
    assert found["gpu.gpu_compute_util_pct"] == pytest.approx(90, abs=4)
    assert found["gpu.power_w"] > 700


def test_lists_are_bare() -> None:
    assert [gpu["bdf"] for gpu in said("amd-smi", "list", "--json", STANDIN_GPUS="2")] == [
        "0000:05:00.0",
        "0000:15:00.0",
    ]
    idle = said("amd-smi", "process", "--json", STANDIN_GPUS="1")[0]["process_list"]
    assert idle == [{"process_info": "No running processes detected"}]
    assert said("amd-smi", "version", "--json")[0]["rocm_version"] == "7.2.0"


def test_static() -> None:
    (gpu,) = said("amd-smi", "static", "--json", STANDIN_GPUS="1")["gpu_data"]
    assert gpu["asic"]["target_graphics_version"] == "gfx950"
    assert "stand-in" in gpu["asic"]["market_name"]
    assert gpu["limit"]["ppt0"]["max_power_limit"] == {"value": 1400, "unit": "W"}


def test_without_json_it_is_indented_text() -> None:
    text = tool("amd-smi", "metric", "--power", STANDIN_GPUS="1").stdout
    assert text.startswith("GPU: 0\nPOWER:\n    SOCKET_POWER: 1")


def test_rocm_smi_has_texts_by_card() -> None:
    argv = ["--showuse", "--showmemuse", "--showpower", "--showmeminfo", "vram", "--json"]
    cards = said("rocm-smi", *argv, STANDIN_GPUS="2")
    assert list(cards) == ["card0", "card1"]
    assert {type(value) for value in cards["card0"].values()} == {str}
    found = summary(parse_poll("\n@ 1.0 rocm-smi\n" + json.dumps(cards)))
    assert found["gpu.peak_gpu_memory_mb"] == 284.0
    assert "card1\t\t: GPU use (%): 0" in tool("rocm-smi", "--showuse", STANDIN_GPUS="2").stdout


def test_rocm_smi_without_a_question_has_no_json() -> None:
    done = tool("rocm-smi", "--json")
    assert (done.returncode, done.stdout[:13]) == (1, "NOT_SUPPORTED")


def test_hcas() -> None:
    assert tool("ibv_devinfo", "-l", STANDIN_HCAS="mlx5_1,mlx5_0").stdout == "2 HCAs found:\n\tmlx5_1\n\tmlx5_0\n\n"
    assert tool("ibv_devinfo", "-l").stdout.startswith("8 HCAs found:\n\tionic_3\n")
    assert "hca_id:\tmlx5_0" in tool("ibv_devinfo", "-d", "mlx5_0", STANDIN_HCAS="mlx5_0,mlx5_1").stdout


def test_no_hcas() -> None:
    listed, shown = tool("ibv_devinfo", "-l", STANDIN_HCAS=""), tool("ibv_devinfo", STANDIN_HCAS="")
    assert (listed.returncode, listed.stdout) == (0, "0 HCAs found:\n\n")
    assert (shown.returncode, shown.stderr) == (255, "No IB devices found\n")
