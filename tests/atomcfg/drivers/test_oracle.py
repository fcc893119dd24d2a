"""Every command for the shipped configurations against the one that CVS builds.

Where they differ on purpose, the difference is stated here once per driver, and explained in
docs/differences-from-cvs.md.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

import pytest

from atomcfg.drivers import DRIVERS
from atomcfg.drivers.environment import user_env
from atomcfg.drivers.lm_eval import lm_eval_argv
from atomcfg.model import Settings

from .factory import DATA, env, load, request, shipped, words

CURRENT = [path.name for path in sorted((DATA / "oracle").iterdir())]
OLDER = [path.name for path in sorted((DATA / "oracle-older").iterdir())]
FABRIC = {"fabric_hca": "mlx5_0,mlx5_1", "fabric_netdev": "ens1"}

# What the atom client is given that CVS does not give it, and where.
ATOM_CLIENT = "--metric-percentiles 95,99 --seed 0 --burstiness 1.0 --random-prefix-len 0 --tokenizer-mode auto"


def settings_of(name: str) -> Settings:
    oracle = load("oracle", name)
    return shipped("cvs", oracle["config"], oracle["profile"])


def cells(name: str) -> Iterator[tuple[int, Any]]:
    yield from enumerate(load("oracle", name)["cells"])


def expected_server(settings: Settings, argv: list[str]) -> list[str]:
    argv = ["10.0.0.1" if word == "{head-node-ip}" else word for word in argv]
    if settings.params.driver == "sglang":
        at = argv.index("--kv-cache-dtype")
        length = str(settings.params.max_model_length)
        return [*argv[:at], "--context-length", length, *argv[at:], "--log-level", "info"]
    return argv


def expected_client(settings: Settings, argv: list[str]) -> list[str]:
    if settings.params.driver == "atom":
        at = argv.index("--result-dir")
        return [*argv[:at], *ATOM_CLIENT.split(), *argv[at:]]
    if settings.params.driver == "sglang":
        at = argv.index("--output-file")
        return [*argv[:at], "--seed", "0", *argv[at:]]
    return argv


@pytest.mark.parametrize("name", CURRENT)
def test_server_argv(name: str) -> None:
    settings = settings_of(name)
    server = DRIVERS[settings.params.driver].server
    for _, cell in cells(name):
        for rank, argv in enumerate(cell["server_argv"]):
            assert words(server(settings, rank)) == expected_server(settings, argv)


@pytest.mark.parametrize("name", CURRENT)
def test_client_argv(name: str) -> None:
    settings = settings_of(name)
    driver = DRIVERS[settings.params.driver]
    checked = list(cells(name))
    assert len(checked) == len(settings.runs)
    for index, cell in checked:
        directory = cell["result_artifact"].rpartition("/")[0]
        asked = driver.percentiles(settings, frozenset())
        argv = words(driver.client(settings, request(settings, index, asked, directory)))
        assert argv == expected_client(settings, cell["client_argv"])
        assert f"{directory}/{driver.artifact(settings)[0]}" == cell["result_artifact"]


@pytest.mark.parametrize("name", CURRENT)
def test_server_environment(name: str) -> None:
    settings = settings_of(name)
    entries = DRIVERS[settings.params.driver].server_env(settings, 0)
    expected = dict(
        line.removeprefix("export ").split("=", 1) for line in load("oracle", name)["cells"][0]["env_script_lines"]
    )
    expected["HF_TOKEN"] = "<hf_token>"
    if settings.params.nnodes > 1:
        expected["NCCL_IB_HCA"] = f"={expected['NCCL_IB_HCA']}"
    assert env(entries, FABRIC) | env(user_env(settings)) == expected


@pytest.mark.parametrize("name", CURRENT)
def test_lm_eval(name: str) -> None:
    oracle = load("oracle", name)
    settings = settings_of(name)
    commands = oracle["lm_eval_cmds"]
    assert [task.id for task in settings.accuracy] == oracle["accuracy_task_ids"] == list(commands)
    for task in settings.accuracy:
        expected = shlex.split(commands[task.id].rpartition("&& ")[2])
        assert words(lm_eval_argv(settings, task, f"/home/tester/LOGS/accuracy/{task.id}")) == expected


@pytest.mark.parametrize("name", OLDER)
def test_older_vllm_commands(name: str) -> None:
    """CVS then called the `vllm` script; all that follows is the same."""
    settings = shipped("cvs-older", name)
    driver = DRIVERS[settings.params.driver]
    program = ["python3", "-m", "vllm.entrypoints.cli.main"]
    for index, cell in enumerate(load("oracle-older", name)["cells"]):
        assert words(driver.server(settings, 0)) == [*program, *cell["server_argv"][0][1:]]
        directory = cell["result_artifact"].rpartition("/")[0]
        argv = words(driver.client(settings, request(settings, index, result_dir=directory)))
        assert argv == [*program, *cell["client_argv"][1:]]
