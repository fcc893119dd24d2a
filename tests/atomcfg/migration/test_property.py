"""compile(migrate(x)) agrees with compile(x), for current files that were made to look older."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atomcfg.difference import differences

from ..compiling import DATA  # noqa: TID252  # they lie one folder up
from .older import compiled, migrated, new_texts, originals

SHIPPED = DATA / "cvs"
MARKED = re.compile(r"<changeme(-\w+)*>(?=:)")
FEW = settings(
    max_examples=(settings.default.max_examples if settings.default else 100) // 5
)  # each compiles often
NAMES = (
    "mi3xx_atom_deepseek-r1_fp8_single.json",
    "mi3xx_atom_qwen3.5-397b-a17b_fp8_single.json",
    "mi3xx_atom_vllm_gpt-oss-120b_mxfp4_single.json",
    "mi3xx_atom_sglang_deepseek-r1_fp8_single.json",
)


def current(name: str) -> dict[str, str]:
    """A current config and its threshold file, without what only a lab knows."""
    config = re.sub(r"<[\w-]+>", "rocm/atom:1", MARKED.sub("/data", (SHIPPED / name).read_text("utf-8")))
    table = json.loads(config)["threshold_json"]
    return {name: config, table: (SHIPPED / table).read_text("utf-8")}


CURRENT = {name: current(name) for name in NAMES}


def older_key(key: str, dice: random.Random) -> str:
    """A cell key as some older or sloppier hand wrote it."""
    parts = key.split(",")
    if dice.random() < 0.7:
        parts = [part for part in parts if part != "PP=1"]
    parts += [part for part in ("NNODES=1", "DP=1") if dice.random() < 0.3]
    if dice.random() < 0.5:
        dice.shuffle(parts)
    separator = dice.choice([",", ", "])
    return separator.join(part.lower() if dice.random() < 0.2 else part for part in parts)


def aged(value: Any, dice: random.Random) -> Any:
    """A threshold document in an older form: the same bounds, other names."""
    if not isinstance(value, dict):
        return value
    made = {}
    for key, item in value.items():
        is_spec = isinstance(item, dict) and "kind" in item
        if key.startswith("_"):
            made[key] = item
        elif is_spec:
            made[f"client.{key}" if dice.random() < 0.6 else key] = item
        else:
            made[older_key(key, dice) if "=" in key else key] = aged(item, dice)
    made["_comment"] = "as of old"
    items = list(made.items())
    if dice.random() < 0.5:
        dice.shuffle(items)
    return dict(items)


def aged_config(value: dict[str, Any], dice: random.Random) -> dict[str, Any]:
    """A config whose cells, where it writes them as keys, are written in an older form."""
    if not isinstance(value.get("sweeps"), dict):
        return value
    keys = {older_key(key, dice): item for key, item in value["sweeps"].items()}
    runs = [older_key(key, dice) for key in value.get("runs", [])]
    return {**value, "sweeps": keys, **({"runs": runs} if "runs" in value else {})}


def aged_texts(name: str, seed: int) -> dict[str, str]:
    dice = random.Random(seed)
    texts = {}
    for key, text in CURRENT[name].items():
        value = json.loads(text)
        made = aged_config(value, dice) if key == name else aged(value, dice)
        texts[key] = json.dumps(made, indent=dice.choice([None, 1, 4]), ensure_ascii=dice.random() < 0.5)
    return texts


def profiles(text: str) -> list[str | None]:
    return list(json.loads(text).get("profiles", {None: {}}))


@FEW
@given(st.sampled_from(NAMES), st.integers(0, 2**32 - 1))
def test_meaning_stays(name: str, seed: int) -> None:
    older = aged_texts(name, seed)
    newer = new_texts(migrated([name], older))
    assert set(newer) == set(older)
    for profile in profiles(older[name]):
        before, after = compiled(name, older, profile), compiled(name, newer, profile)
        assert (differences(before, after), after.digest) == ((), before.digest)
        assert after.digest == compiled(name, CURRENT[name], profile).digest
    assert new_texts(migrated([name], newer)) == newer


@pytest.mark.parametrize("name", NAMES)
def test_a_current_file_has_nothing_to_change(name: str) -> None:
    made = migrated([name], CURRENT[name], rescale_per_gpu=True)
    assert [file.changes for file in made.files] == [(), ()]
    texts = new_texts(made)
    assert {key: json.loads(text) for key, text in texts.items()} == {
        key: json.loads(text) for key, text in CURRENT[name].items()
    }


@FEW
@given(st.integers(0, 2**32 - 1))
def test_key_order_never_changes_what_migration_means(seed: int) -> None:
    name = "mi300x_atom_deepseek-r1_fp8_mtp3.json"
    dice = random.Random(seed)
    texts = originals()
    for key in (name, json.loads(texts[name])["threshold_json"]):
        items = list(json.loads(texts[key]).items())
        dice.shuffle(items)
        texts[key] = json.dumps(dict(items))
    after = compiled(name, {**texts, **new_texts(migrated([name], texts))})
    assert after.digest == compiled(name, originals()).digest
