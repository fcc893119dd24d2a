"""All older pairs migrate, mean what they meant, and are what CVS made of them."""

from __future__ import annotations

import json
import re

import pytest

from atomcfg.cellkey import KeyFault, parse_key
from atomcfg.difference import differences
from atomcfg.metrics import find
from atomcfg.plan import Plan, Spec

from .older import CELLS, CONFIGS, SIBLINGS, TOO_LONG, compiled, migrated, new_texts, originals

MIGRATED = new_texts(migrated(CONFIGS))


def bounds(plan: Plan) -> dict[str, tuple[Spec, ...]]:
    checks = plan.checks
    return {
        **{cell.id: cell.specs for cell in plan.cells},
        **{f"task {task.id}": task.specs for task in checks.accuracy},
        **{f"needle {needle.id}": needle.specs for needle in checks.long_context},
        "mtp": checks.mtp_quality.specs if checks.mtp_quality else (),
        "quant": checks.quant_parity.specs if checks.quant_parity else (),
    }


def test_all_pairs_are_here() -> None:
    assert len(CONFIGS) == 18
    assert set(CELLS) == set(CONFIGS)
    assert set(MIGRATED) == set(originals())


@pytest.mark.parametrize("name", CONFIGS)
def test_it_means_what_it_meant(name: str) -> None:
    before, after = compiled(name, originals()), compiled(name, MIGRATED)
    assert differences(before, after) == ()
    assert after.digest == before.digest
    assert bounds(after) == bounds(before)


@pytest.mark.parametrize("name", CONFIGS)
def test_it_is_what_cvs_made_of_it(name: str) -> None:
    oracle, plan = CELLS[name], compiled(name, MIGRATED)
    assert [cell.id for cell in plan.cells] == oracle["parametrize_ids"]
    keys = [parse_key(key) for key in oracle["expected_cells"]]
    assert [cell.key for cell in plan.cells] == [str(key.key) for key in keys if not isinstance(key, KeyFault)]
    assert [task.id for task in plan.checks.accuracy] == oracle["accuracy_task_ids"]
    needles = [name for name in oracle["long_context_cell_ids"] if name not in TOO_LONG]
    assert [needle.id for needle in plan.checks.long_context] == needles
    assert (plan.driver, plan.enforce_thresholds) == (oracle["driver"], oracle["enforce_thresholds"])


@pytest.mark.parametrize("name", CONFIGS)
def test_every_bound_that_was_written_is_a_gate(name: str) -> None:
    """Read from the older text by itself: key by key, metric by metric, kind and value."""
    config = json.loads(originals()[name])
    table = json.loads(originals()[config["threshold_json"]])
    plan = compiled(name, MIGRATED)
    for cell, key in zip(plan.cells, CELLS[name]["expected_cells"], strict=True):
        written = {metric.removeprefix("client."): spec for metric, spec in table[key].items()}
        got = {spec.metric: {"kind": spec.kind, "value": spec.value} for spec in cell.specs}
        assert got == {
            metric: {"kind": spec["kind"], "value": spec.get("value")} for metric, spec in written.items()
        }
    for task in plan.checks.accuracy:
        written = table["accuracy"][task.id]
        assert {spec.metric: (spec.kind, spec.value) for spec in task.specs} == {
            metric: (spec["kind"], spec.get("value")) for metric, spec in written.items()
        }


@pytest.mark.parametrize("name", [name for name in MIGRATED if name.endswith("threshold.json")])
def test_names_and_keys_are_today_s(name: str) -> None:
    before, after = json.loads(originals()[name]), json.loads(MIGRATED[name])
    for key, body in after.items():
        if "=" in key:
            assert re.fullmatch(r"ISL=\d+,OSL=\d+,TP=\d+,PP=\d+,CONC=\d+", key)
            assert all(find(metric) for metric in body)
    assert [value for value in before.values() if isinstance(value, str)] == [
        value for value in after.values() if isinstance(value, str)
    ], "comments stay"
    assert len(before) == len(after)


@pytest.mark.parametrize("name", CONFIGS)
def test_a_config_keeps_every_value(name: str) -> None:
    """Only thresholds had an older form: the configs differ in layout alone."""
    assert list(json.loads(MIGRATED[name]).items()) == list(json.loads(originals()[name]).items())


@pytest.mark.parametrize("name", MIGRATED)
def test_the_text_is_pretty(name: str) -> None:
    text = MIGRATED[name]
    assert text.endswith("}\n")
    assert not re.search(r"[ \t]$", text, re.M)
    assert all(len(line) - len(line.lstrip()) in range(0, 20, 2) for line in text.splitlines())


@pytest.mark.parametrize("merge", [False, True])
def test_migrating_twice_changes_nothing(merge: bool) -> None:
    once = new_texts(migrated(CONFIGS, merge=merge, rescale_per_gpu=True))
    names = [name for name in once if not name.endswith("threshold.json")]
    again = migrated(names, once, merge=merge, rescale_per_gpu=True)
    assert new_texts(again) == once
    assert [file.changes for file in again.files] == [()] * len(once)


@pytest.mark.parametrize(("profile", "name"), SIBLINGS.items())
def test_a_profile_means_what_its_file_meant(profile: str, name: str) -> None:
    merged = new_texts(migrated(SIBLINGS.values(), merge=True))
    before, after = compiled(name, originals()), compiled(SIBLINGS["perf"], merged, profile)
    assert [(change.what, change.after) for change in differences(before, after)] == (
        [("profile", json.dumps(profile).strip('"'))] if profile != "perf" else []
    )
    assert bounds(after) == bounds(before)


def test_siblings_become_profiles() -> None:
    made = migrated(CONFIGS, merge=True)
    texts = new_texts(made)
    merged = json.loads(texts[SIBLINGS["perf"]])
    assert list(merged["profiles"]) == list(SIBLINGS)
    assert merged["default_profile"] == "perf"
    assert merged["schema_version"] == 2
    assert merged["model"]["id"] == "deepseek-ai/DeepSeek-R1-0528"
    assert all("model" not in body and "paths" not in body for body in merged["profiles"].values())
    assert list(json.loads(texts[merged["threshold_json"]])["profiles"]) == list(SIBLINGS)
    assert len(texts) == 2 * (18 - 5 + 1), "what has another driver, or more nodes, stays by itself"
    (file,) = [file for file in made.files if file.name == SIBLINGS["perf"]]
    assert file.inputs == tuple(SIBLINGS.values())
    assert file.changes == tuple(f"profile {profile} from {name}" for profile, name in SIBLINGS.items())


@pytest.mark.parametrize(
    "name", ["mi300x_atom_deepseek-r1_fp8_distributed.json", "mi355x_atom_deepseek-r1_fp8_distributed.json"]
)
def test_floors_by_tp_are_rescaled_on_request(name: str) -> None:
    before = compiled(name, originals())
    after = compiled(name, new_texts(migrated([name], rescale_per_gpu=True)))
    changed = differences(before, after)
    assert {(change.group, change.what) for change in changed} == {
        ("gates", "per_gpu_throughput"),
        ("gates", "output_tput_per_gpu"),
    }
    assert len(changed) == 2 * len(before.cells)
    for cell in after.cells:
        floors = {spec.metric: spec.value or 0.0 for spec in cell.specs}
        assert floors["total_token_throughput"] / floors["per_gpu_throughput"] == pytest.approx(16, rel=0.02)
        assert floors["output_throughput"] / floors["output_tput_per_gpu"] == pytest.approx(16, rel=0.02)


def test_the_changes_are_told() -> None:
    made = migrated(["mi300x_atom_deepseek-r1_fp8_distributed.json"], rescale_per_gpu=True)
    assert {file.name: file.changes for file in made.files} == {
        "mi300x_atom_deepseek-r1_fp8_distributed.json": (),
        "mi300x_atom_deepseek-r1_fp8_distributed_threshold.json": (
            "15 cell keys in canonical form: ISL=512,OSL=512,TP=8,PP=2,NNODES=2,CONC=16 -> "
            "ISL=512,OSL=512,TP=8,PP=2,CONC=16",
            "375 metric names bare: client.total_token_throughput -> total_token_throughput",
            "30 per-GPU floors divided by 2: the run has more GPUs than TP",
        ),
    }
