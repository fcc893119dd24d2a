"""What the language promises, where neither a mistake in `bad/` nor the keys of a schema show it."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from atomcfg import Plan, dump_plan
from atomcfg.tokens import fill_all

from .compiling import cluster, codes, compile_document
from .dialects import DIALECTS, in_dialect

KEYS = ("ISL=1024,OSL=512,TP=8,PP=1,CONC=16", "ISL=128,OSL=64,TP=8,PP=1,CONC=4")
CONFIG: dict[str, Any] = {
    "enforce_thresholds": False,
    "paths": {"shared_fs": "/h", "models_dir": "/m", "log_dir": "{shared_fs}/L", "hf_token_file": "/h/t"},
    "model": {"id": "org/model", "precision": "fp8"},
    "container": {"image": "a:b", "runtime": {"args": {"volumes": ["/h:/h", "/m:/m"]}}},
    "roles": {"server": {"atom_args": ["--enforce-eager"], "env": {"X": "1"}}},
    "params": {"driver": "atom", "num_prompts": 100},
    "sweep": {
        "sequence_combinations": [{"name": "c", "isl": 1024, "osl": 512}],
        "runs": [{"combo": "c", "concurrency": 16}],
    },
}


def serving(server: dict[str, Any] | None = None, client: dict[str, Any] | None = None) -> dict[str, Any]:
    made = in_dialect(CONFIG, "serving")
    assert made is not None
    made["server_params"] |= server or {}
    made["benchmark_params"] |= client or {}
    return made


def profiles(bodies: dict[str, Any], **top: Any) -> dict[str, Any]:
    return {**CONFIG, **top, "profiles": bodies}


def plan_of(config: Any, **options: Any) -> Plan:
    result = compile_document(config, **options)
    assert result.plan is not None, [item.summary for item in result.diagnostics]
    return result.plan


def server(plan: Plan) -> list[str]:
    return list(fill_all(plan.sessions[0].ranks[0].argv, {}))


def environment(plan: Plan) -> dict[str, Any]:
    return {entry.name: entry.value for entry in plan.sessions[0].ranks[0].env}


@pytest.mark.parametrize(
    ("bodies", "top", "options", "chosen", "by"),
    [
        ({"a": {}, "b": {}, "perf": {}}, {"default_profile": "a"}, {"profile": "b"}, "b", "option"),
        ({"a": {}, "b": {}}, {"default_profile": "a"}, {"environment_profile": "b"}, "b", "environment"),
        ({"a": {}, "b": {}}, {}, {"profile": "a", "environment_profile": "b"}, "a", "option"),
        ({"a": {}, "perf": {}}, {"default_profile": "a"}, {"environment_profile": ""}, "a", "file"),
        ({"a": {}, "perf": {}}, {}, {}, "perf", "default"),
        ({"a": {}, "_b": {}}, {}, {}, "a", "only"),
    ],
)
def test_which_profile(bodies: Any, top: Any, options: Any, chosen: str, by: str) -> None:
    plan = plan_of(profiles(bodies, **top), **options)
    assert (plan.profile, plan.provenance.profile_chosen_by) == (chosen, by)


def test_a_profile_overlays_the_top_level() -> None:
    body = {
        "roles": {"server": {"atom_args": ["--level", "3"], "env": {"Y": "2"}}},
        "params": {"num_prompts": 7, "seed": 3},
        "run_card": {"notes": "n"},
    }
    plan = plan_of(profiles({"perf": body}))
    assert "--enforce-eager" not in server(plan)
    assert {"X": "1", "Y": "2"}.items() <= environment(plan).items()
    assert (plan.cells[0].num_prompts, plan.cells[0].seed) == (7, 3)
    assert dict(plan.provenance.run_card) == {"notes": "n"}


@pytest.mark.parametrize(
    ("name", "stated", "arch"),
    [
        ("mi355x_atom_x.json", None, "mi355x"),
        ("mi3xx_atom_a_atom_b.json", None, "mi3xx"),
        ("x.json", "mi300x", "mi300x"),
    ],
)
def test_gpu_arch(name: str, stated: str | None, arch: str) -> None:
    config = CONFIG if stated is None else {**CONFIG, "gpu_arch": stated}
    assert plan_of(config, name=name).gpu_arch == arch


def test_a_dialect_by_its_shape() -> None:
    """`schema_version` and `framework` may be absent, a text or a number."""
    for version in ({}, {"schema_version": 1}, {"schema_version": "1", "framework": "atom"}):
        assert plan_of({**CONFIG, **version}).profile == "perf"
    assert plan_of({**profiles({"a": {}}), "schema_version": "2"}).profile == "a"


CELLS: dict[str, Any] = {"sweeps": {key: {} for key in KEYS}}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("stated", "ids"),
    [
        (CELLS, ["isl1024_osl512-conc16", "isl128_osl64-conc4"]),
        ({**CELLS, "runs": []}, ["isl1024_osl512-conc16", "isl128_osl64-conc4"]),
        ({**CELLS, "runs": [KEYS[1]]}, ["isl128_osl64-conc4"]),
        ({**CELLS, "runs": ["conc=4, isl=128, osl=64, tp=8, pp=1"]}, ["isl128_osl64-conc4"]),
        ({"runs": [KEYS[1]]}, ["isl128_osl64-conc4"]),
        ({**CELLS, "sweep": CONFIG["sweep"]}, ["c-conc16"]),
    ],
)
def test_cells_as_keys(dialect: str, stated: Any, ids: list[str]) -> None:
    """`sweep.runs` before `runs` before `sweeps`, in every dialect."""
    config = {key: value for key, value in CONFIG.items() if key != "sweep"} | stated
    plan = plan_of(in_dialect(config, dialect))
    assert [cell.id for cell in plan.cells] == ids


def test_all_dialects_say_the_same() -> None:
    digests = {plan_of(in_dialect(CONFIG, dialect)).digest for dialect in ("flat", "profiles")}
    assert len(digests) == 1
    same = serving({}, {"client_poll_count": 50, "reuse_server_across_sweep": False})
    assert plan_of(same).digest in digests


@pytest.mark.parametrize(
    ("over", "flag", "value"),
    [
        ({"port_no": 1, "proxy_router_serv_port": 2}, "--server-port", "2"),
        ({"port_no": 1}, "--server-port", "1"),
        ({"max_model_length": 2048, "context_length": 4096}, "--max-model-len", "4096"),
        ({"max_model_length": 2048}, "--max-model-len", "2048"),
        ({"memory_fraction": 0.7}, "--gpu-memory-utilization", "0.7"),
        (
            {"memory_fraction": 0.7, "atom_args": ["--gpu-memory-utilization", "0.8"]},
            "--gpu-memory-utilization",
            "0.8",
        ),
    ],
)  # fmt: skip
def test_serving_parameters(over: dict[str, Any], flag: str, value: str) -> None:
    words = server(plan_of(serving(over)))
    assert words.count(flag) == 1
    assert words[words.index(flag) + 1] == value


def test_serving_defaults() -> None:
    config = serving()
    del config["enforce_thresholds"], config["functional"]
    plan = plan_of(config)
    assert plan.enforce_thresholds is False
    assert (plan.checks.api_smoke, plan.checks.health_check) == (True, True)
    assert plan.cells[0].deadline_s == 120 + 80 * 60
    assert (plan_of(CONFIG).checks.api_smoke, plan_of(CONFIG).cells[0].deadline_s) == (False, 120 + 50 * 60)


def test_the_container_s_environment_wins() -> None:
    config = serving({"env": {"X": "server", "Y": "server"}})
    config["container"] = {**config["container"], "runtime": {"args": {"volumes": ["/h:/h"], "env": {"X": "box"}}}}
    found = environment(plan_of(config))
    assert (found["X"], found["Y"]) == ("box", "server")


def test_the_model_s_id_falls_back() -> None:
    config = {**serving({"model": "org/served"}), "model": {}}
    assert plan_of(config).model.id == "org/served"
    assert plan_of(serving({"model": "org/served"})).model.id == "org/model"


def test_defaults() -> None:
    plan = plan_of({**CONFIG, "params": {"driver": "atom"}})
    words = list(fill_all(plan.cells[0].argv, {"run_dir": "/R", "attempt": "1"}))
    stated = dict(pairwise(words))
    assert {
        "--dataset-name": "random", "--request-rate": "inf", "--random-range-ratio": "0.8", "--num-prompts": "1000",
        "--burstiness": "1.0", "--seed": "0", "--random-prefix-len": "0", "--tokenizer-mode": "auto",
        "--percentile-metrics": "ttft,tpot,itl,e2el", "--metric-percentiles": "95,99",
    }.items() <= stated.items()  # fmt: skip
    assert plan.sessions[0].ready_deadline_s == 30 + 330 + 60 * 60


LAB = """\
[values]
changeme-models-mount = "/general"
"<changeme-image>" = "general:1"

[set]
"params.num_prompts" = 11
params.seed = 12

[per_config.mi300x_atom_model_fp8_single.values]
changeme-image = "own:1"

[per_config."mi300x_atom_model_fp8_single".set.params]
seed = 13
burstiness = 0.5

[per_config.another.set]
"params.seed" = 99
"""


def test_the_lab_file() -> None:
    """What is said for one config beats what is said for all; `--set` beats both."""
    args = {"volumes": ["/h:/h", "<changeme-models-mount>:/m"]}
    config = {**CONFIG, "container": {"image": "<changeme-image>", "runtime": {"args": args}}}
    plan = plan_of(config, lab=LAB, overrides={"params.burstiness": 0.25})
    assert plan.container is not None
    assert plan.container.image == "own:1"
    assert plan.container.mounts[1].source == "/general"
    assert (plan.cells[0].num_prompts, plan.cells[0].seed) == (11, 13)
    sources = {entry.path: entry.source for entry in plan.provenance.trace}
    assert sources["params.burstiness"] == "--set"
    assert sources["params.seed"].startswith("lab.toml:")


def test_lab_values_in_keys() -> None:
    nodes = {
        **cluster(),
        "head_node_dict": {"mgmt_ip": "{head-node-ip}"},
        "node_dict": {"{head-node-ip}": {}, "<changeme-worker>": {}},
    }
    lab = '[values]\nhead-node-ip = "h1"\nchangeme-worker = "w1"\n'
    config = {**CONFIG, "params": {"driver": "atom", "nnodes": 2}}
    assert [node.address for node in plan_of(config, cluster_file=nodes, lab=lab).nodes] == ["h1", "w1"]


def test_braces_of_others_pass_untouched() -> None:
    template = '{"a": {"b": "{{ message.content }}"}} {x} {user}'
    config = {**CONFIG, "roles": {"server": {"atom_args": ["--default-chat-template-kwargs", template]}}}
    assert template in server(plan_of(config))


def test_placeholders() -> None:
    paths = {
        "shared_fs": "/home/{user-id}",
        "models_dir": "/m",
        "log_dir": "{shared_fs}/L",
        "hf_token_file": "{log_dir}/t",
    }
    container = {"image": "a:b", "runtime": {"args": {"volumes": ["{paths.shared_fs}:{paths.shared_fs}", "/m:/m"]}}}
    plan = plan_of({**CONFIG, "paths": paths, "container": container})
    assert plan.paths.run_root == "/home/tester/L/atomrun"
    assert plan.secrets[0].file == "/home/tester/L/t"
    assert plan.container is not None
    assert plan.container.mounts[0].source == "/home/tester"


def test_seeds_differ_where_the_server_is_reused() -> None:
    config = {key: value for key, value in CONFIG.items() if key != "sweep"} | CELLS
    config = {**config, "params": {"driver": "atom", "seed": 5, "reuse_server_across_sweep": "true"}}
    plan = plan_of(config)
    assert {cell.key: cell.seed for cell in plan.cells} == {KEYS[1]: 5, KEYS[0]: 6}
    assert len(plan.sessions) == 1
    each = {**config, "params": {"driver": "atom", "seed": 5}}
    assert {cell.seed for cell in plan_of(each).cells} == {5}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_order_of_nodes(dialect: str) -> None:
    """Rank 0 is the head, the others follow as the file lists them."""
    nodes = {**cluster(3), "head_node_dict": {"mgmt_ip": "10.0.0.2"}}
    config = in_dialect({**CONFIG, "params": {"driver": "atom", "nnodes": 3}}, dialect)
    assert [node.address for node in plan_of(config, cluster_file=nodes).nodes] == [
        "10.0.0.2",
        "10.0.0.1",
        "10.0.0.3",
    ]


def test_a_flag_may_be_repeated_with_the_same_value() -> None:
    given = ["-tp", "8", "--max_model_len=8192", "--server-port", "8000", "--model", "org/model"]
    result = compile_document({**CONFIG, "roles": {"server": {"atom_args": given}}})
    assert codes(result) == []
    assert result.plan is not None
    words = server(result.plan)
    for spellings in (("-tp", "--tensor-parallel-size"), ("--max_model_len=8192", "--max-model-len"), ("--model",)):
        assert sum(words.count(spelling) for spelling in spellings) == 1


def test_comments_anywhere_even_odd_ones() -> None:
    text = json.dumps({**CONFIG, "_": {"$schema": 5, "a": ["<changeme>", "{x}", "hf_short"]}})
    assert plan_of(text).digest == plan_of(CONFIG).digest


def test_a_plan_says_only_where_a_secret_is() -> None:
    text = dump_plan(plan_of(CONFIG))
    assert '"secret":"hf_token"' in text
