"""What each driver writes beyond what the shipped configurations show."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from atomcfg.drivers import DRIVERS, SERVING_ARGUMENTS, SERVING_BACKENDS
from atomcfg.model import Combo, Run, Settings
from atomcfg.tokens import Hole, bind, template

from .factory import env, make, request, words

SEVERAL: dict[str, Any] = {"nnodes": 2, "pipeline_parallel_size": 2}
SLO = (Run(Combo("c", 8, 4, (("ttft", 200.0), ("e2el", 1500.5))), 2, ("sweep", "runs", 0)),)
MOVED = {"http_port": "8123", "models_dir": "/m", "master_addr": "127.0.0.2", "master_port": "29999"}


def server(settings: Settings, rank: int = 0, **values: str) -> str:
    return " ".join(words(DRIVERS[settings.params.driver].server(settings, rank), values))


def client(settings: Settings, **values: str) -> str:
    return " ".join(words(DRIVERS[settings.params.driver].client(settings, request(settings)), values))


def with_args(name: str, arguments: object, **more: Any) -> dict[str, Any]:
    return {"roles": {"server": {name: arguments, **more}}}


@pytest.mark.parametrize(
    ("arguments", "tail"),
    [
        ([], "-tp 8 --max-model-len 8192"),
        (["--kv-cache-dtype", "fp8"], "--kv-cache-dtype fp8 -tp 8 --max-model-len 8192"),
        (["--tensor_parallel_size=8", "--max-model", "8192"], "--tensor_parallel_size=8 --max-model 8192"),
        (["--server-port=8000", "--model", "org/model"], "-tp 8 --max-model-len 8192"),
        (["--port", "9000"], "--port 9000 -tp 8 --max-model-len 8192"),  # the engine's own
    ],
)
def test_atom_server(arguments: list[str], tail: str) -> None:
    settings = make(with_args("atom_args", arguments))
    assert (
        server(settings) == f"python -m atom.entrypoints.openai_server --model org/model --server-port 8000 {tail}"
    )


def test_atom_on_several_nodes_is_data_parallel() -> None:
    settings = make(with_args("atom_args", ["--trust-remote-code"]), nnodes=2)
    driver = DRIVERS["atom"]
    assert server(settings).endswith("--trust-remote-code -tp 8 -dp 2 --max-model-len 8192")
    assert server(settings, 0) == server(settings, 1)
    found = env(driver.server_env(settings, 1), {"fabric_hca": "a", "fabric_netdev": "b", **MOVED})
    assert {name: value for name, value in found.items() if name.startswith("ATOM_DP")} == {
        "ATOM_DP_RANK": "1",
        "ATOM_DP_SIZE": "2",
        "ATOM_DP_RANK_LOCAL": "0",
        "ATOM_DP_MASTER_IP": "127.0.0.2",
        "ATOM_DP_MASTER_PORT": "29999",
    }
    assert driver.data_parallel(settings) == 2


def test_vllm_server_on_several_nodes() -> None:
    settings = make({"model": {"id": "/models/x"}, **with_args("serve_args", {})}, driver="vllm", **SEVERAL)
    program = "python3 -m vllm.entrypoints.cli.main serve /m/x --host 0.0.0.0"
    start = f"{program} --tensor-parallel-size 8 --max-model-len 8192 --port 8123"
    nodes = "--master-addr 127.0.0.2 --master-port 29999 --nnodes 2 --pipeline-parallel-size 2"
    end = "--block-size 64 --no-enable-prefix-caching --enforce-eager"
    assert [server(settings, rank, **MOVED) for rank in (0, 1)] == [
        f"{start} --node-rank 0 {nodes} --distributed-executor-backend mp {end}",
        f"{start} --node-rank 1 {nodes} --distributed-executor-backend mp --headless {end}",
    ]


def test_vllm_executor_may_be_chosen() -> None:
    stated = {"block-size": 16, "distributed_executor_backend": "ray"}
    settings = make(with_args("serve_args", stated), driver="vllm", **SEVERAL)
    assert " --distributed-executor-backend ray --block-size 16 " in server(settings)
    assert server(settings).count("executor") == 1
    assert DRIVERS["vllm"].own_multinode(settings)
    assert not DRIVERS["vllm"].own_multinode(make(driver="vllm"))
    assert not DRIVERS["atom"].own_multinode(make())


@pytest.mark.parametrize("model", ["deepseek-ai/DeepSeek-V4-Pro", "/models/deepseek_v4"])
def test_deepseek_v4_is_neither_eager_nor_on_atoms_kernels(model: str) -> None:
    settings = make({"model": {"id": model}}, driver="vllm_atom")
    assert "--enforce-eager" not in server(settings)
    assert not [name for name in env(DRIVERS["vllm_atom"].server_env(settings, 0)) if name.startswith("VLLM")]


def test_only_vllm_atom_chooses_atoms_kernels() -> None:
    chosen = {"VLLM_USE_AITER_UNIFIED_ATTENTION": "1", "VLLM_ROCM_USE_AITER_MHA": "0"}
    assert chosen.items() <= env(DRIVERS["vllm_atom"].server_env(make(driver="vllm_atom"), 0)).items()
    assert not chosen.keys() & env(DRIVERS["vllm"].server_env(make(driver="vllm"), 0)).keys()


@pytest.mark.parametrize(
    ("arguments", "tail"),
    [
        (["--log-level", "debug"], "--context-length 8192 --log-level debug"),
        (["--x", "--context-length=8192"], "--context-length=8192 --x"),
        (["--tensor-parallel-size", "8", "--pp-size", "1"], "--context-length 8192 --pp-size 1"),
    ],
)
def test_sglang_server(arguments: list[str], tail: str) -> None:
    settings = make(with_args("sglang_args", arguments), driver="sglang")
    start = "python3 -m sglang.launch_server --model-path org/model --host 0.0.0.0 --port 8000 --tp 8"
    assert server(settings) == f"{start} {tail}"


def test_sglang_server_on_several_nodes() -> None:
    settings = make(driver="sglang", **SEVERAL)
    nodes = "--pp-size 2 --nnodes 2 --node-rank 1 --dist-init-addr 127.0.0.2:29999"
    assert server(settings, 1, **MOVED).endswith(f"--port 8123 --tp 8 {nodes} --context-length 8192")


@pytest.mark.parametrize(
    ("driver", "name", "given", "tail"),
    [
        ("atom", "atom_args", [], "--gpu-memory-utilization 0.9"),
        ("atom", "atom_args", ["--gpu-memory-utilization", "0.8"], "--max-model-len 8192"),
        ("vllm", "serve_args", {}, "--gpu-memory-utilization 0.9 --uvicorn-log-level info"),
        ("vllm", "serve_args", {"gpu-memory-utilization": 0.8}, "--enforce-eager --uvicorn-log-level info"),
        ("sglang", "sglang_args", [], "--mem-fraction-static 0.9 --log-level info"),
        ("sglang", "sglang_args", ["--log_level=warning"], "--log_level=warning --mem-fraction-static 0.9"),
    ],
)
def test_serving_fields_become_flags_unless_given(driver: str, name: str, given: object, tail: str) -> None:
    settings = make(with_args(name, given, memory_fraction="0.9", log_level="info"), driver=driver)
    assert server(settings).endswith(tail)


def test_client_holes_can_be_filled_elsewhere() -> None:
    settings = make({"model": {"id": "/models/x"}}, driver="vllm", base_url="http://0.0.0.0/")
    assert "--model /m/x --backend vllm --base-url http://0.0.0.0:8123 " in client(settings, **MOVED)
    assert " --port 8123 " in client(make(driver="sglang"), **MOVED)
    assert " --base-url http://localhost:8123 " in client(make(), **MOVED)


def test_result_folder_may_be_known_to_the_run_only() -> None:
    settings = make(driver="sglang")
    asked = evolve(request(settings), result_dir=template(bind(Hole.RUN_DIR), "/a"))
    argv = words(DRIVERS["sglang"].client(settings, asked), {"run_dir": "/r"})
    assert argv[-2:] == ["--output-file", "/r/a/results.jsonl"]


@pytest.mark.parametrize("driver", DRIVERS)
def test_goodput_and_extra_arguments_come_last(driver: str) -> None:
    settings = make(runs=SLO, driver=driver, bench_extra_args="--profile --seed=0")
    assert client(settings).endswith("--goodput ttft:200 e2el:1500.5 --profile")
    assert client(settings).count("--seed") == 1
    assert DRIVERS[driver].produces(settings, "goodput")
    assert not DRIVERS[driver].produces(make(driver=driver), "goodput")


@pytest.mark.parametrize("driver", DRIVERS)
def test_seed_is_the_requests(driver: str) -> None:
    settings = make(driver=driver, seed=7)
    argv = words(DRIVERS[driver].client(settings, evolve(request(settings), seed="9")))
    assert argv[argv.index("--seed") + 1] == "9"


@pytest.mark.parametrize(
    ("driver", "stated", "artifact"),
    [
        ("atom", "results", ("results.json", "atom")),
        ("atom", "r.json", ("r.json", "atom")),
        ("vllm", "r.json", ("r", "vllm")),
        ("vllm_atom", "r", ("r", "vllm")),
        ("sglang", "r.jsonl", ("r.jsonl", "sglang")),
        ("sglang", "r.json", ("r.jsonl", "sglang")),
    ],
)
def test_artifact(driver: str, stated: str, artifact: tuple[str, str]) -> None:
    assert DRIVERS[driver].artifact(make(driver=driver, result_filename=stated)) == artifact


@pytest.mark.parametrize("driver", DRIVERS)
def test_every_flag_names_its_parameter(driver: str) -> None:
    """What a trace is made of: each parameter that the client is told stands beside its flag."""
    settings = make(driver=driver)
    sources = {source for arg in DRIVERS[driver].client(settings, request(settings)) for source in arg.sources}
    assert {"model.id", "params.port_no", "params.seed", "params.num_prompts", "sweep.runs[0]"} <= sources
    sources = {source for arg in DRIVERS[driver].server(settings, 0) for source in arg.sources}
    assert {"model.id", "params.port_no", "params.tensor_parallelism", "params.max_model_length"} <= sources


def test_drivers_are_called_as_the_table_says() -> None:
    assert {name: driver.name for name, driver in DRIVERS.items()} == {name: name for name in DRIVERS}
    assert set(SERVING_BACKENDS.values()) <= set(DRIVERS)
    assert set(SERVING_ARGUMENTS.values()) == {driver.arguments for driver in DRIVERS.values()}
