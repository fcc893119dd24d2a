"""An editor's view of the schemas, and what docs/editor.md says of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from referencing import Registry, Resource

from atomcfg.documents import JsonPath
from atomcfg.paths import parse_path
from atomcfg.schemas import load_schema, schema_names
from atomcfg.schemawalk import default_at, description_at, keys_at, type_at, values_at

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "editor.md").read_text("utf-8")
CONFIGS = ("config-flat", "config-profiles", "config-serving")
EXAMPLES = sorted((ROOT / "examples").rglob("*.json"))


def is_valid(value: object, schema: str) -> bool:
    """By another validator than the compiler's, as an editor has its own."""
    resources = [(f"{name}.schema.json", Resource.from_contents(load_schema(name))) for name in schema_names()]  # type: ignore[arg-type]  # schemas are mappings
    registry: Any = Registry().with_resources(resources)
    return jsonschema.Draft202012Validator({"$ref": f"{schema}.schema.json"}, registry=registry).is_valid(value)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_editor_finds_nothing_in_the_shipped_files(path: Path) -> None:
    value = json.loads(path.read_text("utf-8"))
    schema = Path(value["$schema"]).name.removesuffix(".schema.json")
    assert is_valid(value, schema)
    assert not is_valid({**value, "no_such_key": 1}, schema), "and underlines what does not fit"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_key_that_is_used_is_offered_and_described(path: Path) -> None:
    value = json.loads(path.read_text("utf-8"))
    schema = Path(value["$schema"]).name.removesuffix(".schema.json")
    for place in places(value):
        offered = keys_at(schema, place[:-1])
        if place[-1] in offered:
            assert offered[str(place[-1])], place
        assert any(description_at(schema, place[:cut]) for cut in range(1, len(place) + 1)), place


def places(value: object, path: JsonPath = ()) -> list[JsonPath]:
    found: list[JsonPath] = []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if not str(key).startswith("_"):
            here = (*path, key)
            found += ([here] if isinstance(key, str) else []) + places(item, here)
    return found


@pytest.mark.parametrize("schema", CONFIGS)
def test_every_offered_key_says_what_it_is_for(schema: str) -> None:
    pending: list[JsonPath] = [()]
    count = 0
    while pending:
        path = pending.pop()
        for name, about in keys_at(schema, path).items():
            here = (*path, name)
            assert about, here
            assert type_at(schema, here) or values_at(schema, here), here
            default = default_at(schema, here)
            listed = values_at(schema, here)
            assert default is None or not listed or default in listed or "anyOf" in str(type_at(schema, here)), here
            pending += [here, (*here, 0)]
            count += 1
    assert count > 50


@pytest.mark.parametrize(
    ("path", "offers"), re.findall(r"^\| `([\w.]+)` \| (.+) \|$", GUIDE.split("## What it offers")[1], re.M)
)
def test_the_guide_says_what_is_offered(path: str, offers: str) -> None:
    steps = parse_path(path)
    assert steps
    assert str(steps[-1]) in keys_at("config-flat", steps[:-1])
    if "`" in offers:
        assert tuple(json.loads(value) for value in re.findall("`(.+?)`", offers)) == values_at(
            "config-flat", steps
        )
    else:
        assert offers == description_at("config-flat", steps)


def test_the_guide_names_every_schema_of_an_input() -> None:
    named = re.findall(r"^\| .+ \| `([\w-]+)\.schema\.json` \|$", GUIDE, re.M)
    written = {"plan", "results", "report"}  # by our programs, not by people
    assert sorted(named) == sorted(set(schema_names()) - written)


def test_paths() -> None:
    assert (
        description_at("config-flat", ("container", "image"))
        == "Image on the GPU nodes, e.g. rocm/atom-dev:latest."
    )
    assert default_at("config-flat", ("params", "seed")) == 0
    assert default_at("config-flat", ("params", "master_addr")) is None
    assert default_at("config-serving", ("benchmark_params", "client_poll_count")) == 80
    assert keys_at("threshold", ("ISL=1,OSL=1,TP=1,PP=1,CONC=1", "mean_ttft_ms")).keys() >= {"kind", "value"}
    assert "max_ms" in values_at("threshold", ("ISL=1,OSL=1,TP=1,PP=1,CONC=1", "mean_ttft_ms", "kind"))
    assert keys_at("config-profiles", ("profiles", "any", "params")) == keys_at("config-flat", ("params",))
    assert set(keys_at("cluster", ("node_dict", "10.0.0.1"))) == {"vpc_ip", "bmc_ip"}
    assert type_at("cluster", ("node_dict", "10.0.0.1", "bmc_ip")) == "string or null"
    assert keys_at("config-flat", ("no", "such", 0)) == {}
    assert (description_at("config-flat", ("no",)), type_at("config-flat", ("no",))) == ("", "")
