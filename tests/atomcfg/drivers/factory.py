"""Settings for driver tests, built straight from JSON: no pass of the compiler takes part."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from atomcfg.defaults import PARAMS
from atomcfg.diagnostics import Diagnostic, Diagnostics
from atomcfg.documents import Document, Origin
from atomcfg.drivers import DRIVER_BY_ARGUMENT, DRIVERS
from atomcfg.drivers.base import Arg, ClientRequest, EnvEntry
from atomcfg.model import (
    AccuracyTaskSettings,
    Cluster,
    Combo,
    Params,
    PathSettings,
    Run,
    ServerSettings,
    Settings,
)
from atomcfg.plan import Node
from atomcfg.tokens import fill

DATA = Path(__file__).resolve().parents[2] / "data"
_BACKENDS = {"vllm": "vllm_atom", "vllm_atom": "vllm_atom", "sglang": "sglang"}
DEFAULT_RUNS = (Run(Combo("c", 1024, 512), 8, ("sweep", "runs", 0)),)
_CELL = re.compile(r"ISL=(\d+),OSL=(\d+),.*CONC=(\d+)")


def load(folder: str, name: str) -> Any:
    return json.loads((DATA / folder / name).read_text("utf-8"))


def make(config: Mapping[str, Any] | None = None, runs: Sequence[Run] = DEFAULT_RUNS, **params: Any) -> Settings:
    """Settings for a flat configuration, most of which may be absent; `params` go on top of its own."""
    flat: dict[str, Any] = {**(config or {})}
    server = flat.get("roles", {}).get("server", {})
    inferred = next((driver for argument, driver in DRIVER_BY_ARGUMENT.items() if argument in server), "atom")
    flat["params"] = {"driver": inferred, **flat.get("params", {}), **params}
    text = json.dumps(flat, indent=1)
    return Settings(
        stem="test",
        profile="perf",
        gpu_arch=flat.get("gpu_arch", "mi3xx"),
        enforce_thresholds=False,
        paths=PathSettings(
            "/home/tester", flat.get("models_dir", "/models"), "/home/tester/LOGS", "/home/tester/.hf_token"
        ),
        model_id=flat.get("model", {}).get("id", "org/model"),
        model_remote=False,
        precision=flat.get("model", {}).get("precision", "fp8"),
        container=None,
        server=_server(server),
        params=_params(flat["params"]),
        runs=tuple(runs),
        api_smoke=False,
        health_check=False,
        dmesg_scan=False,
        gpu_metrics_poll=False,
        accuracy=tuple(_task(task) for task in flat.get("accuracy", {}).get("tasks", ())),
        long_context=(),
        mtp_enabled=False,
        mtp_prompt="",
        mtp_expected_sha256="",
        quant_enabled=False,
        quant_prompt="",
        quant_reference="",
        cluster=Cluster("container", tuple(_node(rank) for rank in range(2)), {}),
        run_card={},
        document=Document(json.loads(text), {(): Origin("config.json", text)}),
    )


def _params(stated: Mapping[str, Any]) -> Params:
    values: dict[str, Any] = {name: default for name, (_, default) in PARAMS.items()}
    for name, value in stated.items():
        default = values.get(name)
        if isinstance(default, bool):
            values[name] = value in (True, "true")
        elif isinstance(default, int):
            values[name] = int(value)
        elif name != "bench_extra_args":
            values[name] = value if name.endswith("addr") else str(value)
    words = stated.get("bench_extra_args", ())
    values["bench_extra_args"] = tuple(shlex.split(words) if isinstance(words, str) else words)
    values["scaling_baseline_output_throughput"] = None
    return Params(**values)


def _server(server: Mapping[str, Any]) -> ServerSettings:
    hca, netdev = server.get("ib_hca_devices", "auto"), server.get("ib_netdev", "auto")
    return ServerSettings(
        arguments={name: server[name] for name in ("atom_args", "serve_args", "sglang_args") if name in server},
        env=server.get("env", {}),
        ib_hca_devices=() if hca == "auto" else tuple(hca),
        ib_netdev=None if netdev == "auto" else netdev,
        memory_fraction=server.get("memory_fraction"),
        log_level=server.get("log_level"),
    )


def _task(task: Mapping[str, Any]) -> AccuracyTaskSettings:
    return AccuracyTaskSettings(
        id=task["id"],
        task=task["task"],
        num_fewshot=task.get("num_fewshot", 0),
        num_concurrent=task.get("num_concurrent", 8),
        apply_chat_template=task.get("apply_chat_template", False),
        metadata=task.get("metadata", {}),
        include_path=task.get("include_path"),
        gen_kwargs=task.get("gen_kwargs", {}),
        limit=task.get("limit"),
    )


def _node(rank: int) -> Node:
    return Node(rank, f"10.0.0.{rank + 1}", f"10.0.0.{rank + 1}", "tester", 22, None, "strict")


def shipped(folder: str, name: str, profile: str | None = None) -> Settings:
    """Settings of a real configuration, whatever its dialect, on a cluster whose head is 10.0.0.1."""
    config = json.loads((DATA / folder / name).read_text("utf-8").replace("{head-node-ip}", "10.0.0.1"))
    if profile is not None:
        config = {**config, **config["profiles"][profile]}
    if "server_params" in config:
        config = _flat(config)
    return make({**config, "gpu_arch": name.split("_")[0]}, _runs(config))


def _flat(config: dict[str, Any]) -> dict[str, Any]:
    server, bench = config["server_params"], config["benchmark_params"]
    drop = ("NCCL_IB_HCA", "NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME")
    env = {**server.get("env", {}), **config["container"]["runtime"]["args"].get("env", {})}
    arguments = {"serve_args": server.get("serve_args"), "sglang_args": server.get("add_flags")}
    params = {
        "driver": _BACKENDS[server["backend"]],
        "port_no": server.get("proxy_router_serv_port", server.get("port_no", 8000)),
        "tensor_parallelism": server["tensor_parallelism"],
        "pipeline_parallel_size": server["pipeline_parallelism"],
        "nnodes": server["nnodes"],
        "max_model_length": server.get("context_length", bench.get("max_model_length", 8192)),
        **{
            name: bench[name]
            for name in ("num_prompts", "random_range_ratio", "metric_percentiles")
            if name in bench
        },
    }
    roles = {
        **{name: value for name, value in arguments.items() if value is not None},
        "env": {name: value for name, value in env.items() if name not in drop},
        "memory_fraction": server.get("memory_fraction"),
        "log_level": server.get("log_level"),
    }
    return {**config, "params": params, "roles": {"server": roles}}


def _runs(config: Mapping[str, Any]) -> list[Run]:
    """The cells of either notation; ids do not matter to a driver."""
    if "sweep" not in config:
        keys = config.get("runs") or list(config["sweeps"])
        shapes = [tuple(map(int, match.groups())) for key in keys if (match := _CELL.fullmatch(key))]
        return [
            Run(Combo(f"isl{isl}_osl{osl}", isl, osl), conc, ("sweep", "runs", index))
            for index, (isl, osl, conc) in enumerate(shapes)
        ]
    combos = {
        combo["name"]: Combo(combo["name"], int(combo["isl"]), int(combo["osl"]))
        for combo in config["sweep"]["sequence_combinations"]
    }
    return [
        Run(combos[run["combo"]], int(run["concurrency"]), ("sweep", "runs", index))
        for index, run in enumerate(config["sweep"]["runs"])
    ]


def request(
    settings: Settings, run: int = 0, percentiles: str | None = None, result_dir: str = "/out"
) -> ClientRequest:
    chosen = settings.runs[run]
    asked = settings.params.metric_percentiles if percentiles is None else percentiles
    return ClientRequest.of(chosen, settings.params.seed, asked, result_dir)


def words(args: tuple[Arg, ...], values: Mapping[str, str] | None = None) -> list[str]:
    """An argv with its holes filled by what the plan knows."""
    return [fill(token, values) for arg in args for token in arg.tokens]


def env(entries: tuple[EnvEntry, ...], values: Mapping[str, str] | None = None) -> dict[str, str]:
    """An environment with its holes filled; a secret shows its name in brackets."""
    shown = {}
    for entry in entries:
        var = entry.var
        shown[var.name] = f"<{var.secret}>" if var.value is None else fill(var.value, values)
    return shown


def check(settings: Settings) -> tuple[Diagnostic, ...]:
    """What the settings' own driver finds wrong in them."""
    found = Diagnostics()
    DRIVERS[settings.params.driver].check(settings, found)
    return found.items
