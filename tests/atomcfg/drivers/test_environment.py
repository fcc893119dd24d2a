"""Environment entries and shared tokens."""

from __future__ import annotations

from typing import Any

import pytest

from atomcfg.drivers import DRIVERS
from atomcfg.drivers.environment import located, master_addr, user_env
from atomcfg.tokens import Hole, UnboundError, bind, fill, template

from .factory import env, make

BASE = {"HF_TOKEN": "<hf_token>", "HF_HUB_CACHE": "/models"}
SEVERAL: dict[str, Any] = {"nnodes": 2, "pipeline_parallel_size": 2}
TRITON = {"ATOM_USE_TRITON_MOE": "1", "ATOM_USE_TRITON_GEMM": "1"}


@pytest.mark.parametrize(
    ("text", "root", "filled"),
    [
        ("/models", "/models", "/elsewhere"),
        ("/models/a", "/models/", "/elsewhere/a"),
        ("--chat-template=/models/t", "/models", "--chat-template=/elsewhere/t"),
        ("/models2/a", "/models", "/models2/a"),
        ("org/model", "/models", "org/model"),
        ("--eager", "/models", "--eager"),
        ("/a", "/", "/a"),
    ],
)
def test_paths_below_the_models_directory_can_move(text: str, root: str, filled: str) -> None:
    assert fill(located(text, root)) == text
    assert fill(located(text, root), {"models_dir": "/elsewhere"}) == filled


def test_coordinator_is_the_head_unless_stated() -> None:
    assert fill(master_addr(make())) == "10.0.0.1"
    assert fill(master_addr(make(master_addr="10.1.1.1"))) == "10.1.1.1"


@pytest.mark.parametrize("driver", DRIVERS)
def test_clients_get_token_and_cache(driver: str) -> None:
    assert BASE.items() <= env(DRIVERS[driver].client_env(make(driver=driver))).items()


def test_only_sglangs_client_needs_a_source_path() -> None:
    with_path = {name for name in DRIVERS if "PYTHONPATH" in env(DRIVERS[name].client_env(make(driver=name)))}
    assert with_path == {"sglang"}


def test_fabric_values_stay_open_until_they_are_found() -> None:
    entries = DRIVERS["vllm"].server_env(make(driver="vllm", **SEVERAL), 0)
    with pytest.raises(UnboundError):
        env(entries)
    assert env(entries, {"fabric_hca": "mlx5_0,mlx5_1", "fabric_netdev": "ens1"}) == {
        **BASE,
        "NCCL_IB_HCA": "=mlx5_0,mlx5_1",
        "NCCL_SOCKET_IFNAME": "ens1",
        "GLOO_SOCKET_IFNAME": "ens1",
        "TP_SOCKET_IFNAME": "ens1",
    }


def test_stated_fabric_values_are_known_to_the_plan() -> None:
    server = {"ib_hca_devices": ["mlx5_0", "mlx5_3"], "ib_netdev": "bond0"}
    found = env(DRIVERS["vllm"].server_env(make({"roles": {"server": server}}, driver="vllm", **SEVERAL), 1))
    assert (found["NCCL_IB_HCA"], found["TP_SOCKET_IFNAME"]) == ("=mlx5_0,mlx5_3", "bond0")


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize(
    ("precision", "arch", "stated", "added"),
    [
        ("mxfp4", "mi3xx", {}, TRITON),
        ("mxfp4", "mi325x", {"ATOM_USE_TRITON_MOE": "0"}, {"ATOM_USE_TRITON_GEMM": "1"}),
        ("mxfp4", "mi355x", {}, {}),
        ("fp8", "mi300x", {}, {}),
    ],
)
def test_mxfp4_on_gfx942(
    driver: str, precision: str, arch: str, stated: dict[str, str], added: dict[str, str]
) -> None:
    config = {"model": {"precision": precision}, "gpu_arch": arch, "roles": {"server": {"env": stated}}}
    found = env(DRIVERS[driver].server_env(make(config, driver=driver), 0))
    assert {name: value for name, value in found.items() if name in TRITON} == added


def test_true_is_written_1_where_nothing_else_counts() -> None:
    stated = {"ATOM_USE_TRITON_MOE": "true", "ATOM_USE_TRITON_GEMM": "0", "ATOM_DISABLE_MMAP": "true"}
    entries = user_env(make({"roles": {"server": {"env": stated}}}))
    assert env(entries) == {**stated, "ATOM_USE_TRITON_MOE": "1"}
    assert entries[0].sources == ("roles.server.env.ATOM_USE_TRITON_MOE",)


def test_a_token_without_a_prefix_is_the_binding_alone() -> None:
    assert located("/models", "/models") == template(bind(Hole.MODELS_DIR, "/models"))
