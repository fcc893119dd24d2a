"""The schemas are themselves valid, complete and of one mind with the code."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator
from pathlib import Path

import attrs
import jsonschema_rs
import pytest

import atomcfg.plan
from atomcfg import model, schemas
from atomcfg.metrics import KINDS, METRICS
from atomcfg.plan import Cell, Session, Spec
from atomcfg.schemas import load_schema, schema_names, schema_text
from atomcfg.tokens import Token

FREE = {"metadata", "gen_kwargs", "set"}  # objects that may hold anything
INPUTS = tuple(name for name in schema_names() if name not in ("plan", "report", "results"))
FLAT, PROFILES = load_schema("config-flat"), load_schema("config-profiles")


def objects(node: object, path: str = "") -> Iterator[tuple[str, dict[str, typing.Any]]]:
    """Every subschema that is an object, with its place."""
    if isinstance(node, dict):
        yield path, node
        for key, inner in node.items():
            yield from objects(inner, f"{path}/{key}")
    elif isinstance(node, list):
        for index, inner in enumerate(node):
            yield from objects(inner, f"{path}/{index}")


def resolve(name: str, reference: str) -> typing.Any:
    file, _, pointer = reference.partition("#")
    here: typing.Any = load_schema(file.removesuffix(".schema.json") or name)
    for step in pointer.split("/")[1:]:
        here = here[step]
    return here


def test_the_inventory() -> None:
    expected = {"config-flat", "config-profiles", "config-serving", "threshold", "cluster", "lab", "plan"}
    assert expected <= set(schema_names())
    with pytest.raises(KeyError):
        schema_text("no-such")


def test_packaged_schemas_win_over_the_checkout(tmp_path: Path) -> None:
    package = tmp_path / "src" / "atomcfg"
    package.mkdir(parents=True)
    assert schemas._folder(package) == tmp_path / "schemas"
    (package / "schemas").mkdir()
    assert schemas._folder(package) == package / "schemas"


@pytest.mark.parametrize("name", schema_names())
def test_each_is_a_valid_schema_whose_references_lead_somewhere(name: str) -> None:
    schema = load_schema(name)
    jsonschema_rs.meta.validate(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    for _, node in objects(schema):
        if isinstance(node.get("$ref"), str):
            assert isinstance(resolve(name, node["$ref"]), dict)


@pytest.mark.parametrize("name", schema_names())
def test_every_object_is_closed_and_takes_comments(name: str) -> None:
    for path, node in objects(load_schema(name)):
        if node.get("type") != "object" or path.rsplit("/", 1)[-1] in FREE:
            continue
        assert "additionalProperties" in node, path
        if name in INPUTS and path.rsplit("/", 1)[-1] != "values":
            assert node["patternProperties"]["^_"] is True, path


@pytest.mark.parametrize("name", schema_names())
def test_every_key_is_described(name: str) -> None:
    bare = []
    for path, node in objects(load_schema(name)):
        properties = node.get("properties", {})
        if (
            "/then" in path
            or "/else" in path
            or "/if" in path
            or "/oneOf" in path
            or path.startswith("/$defs/complete")
        ):
            continue
        for key, stated in properties.items():
            target = resolve(name, stated["$ref"]) if "$ref" in stated else {}
            if "description" not in stated and "description" not in target and "$ref" not in target:
                bare.append(f"{path}/{key}")
    assert bare == []


def test_patterns_are_anchored() -> None:
    """An unanchored pattern would accept a value with anything around it."""
    for name in schema_names():
        for path, node in objects(load_schema(name)):
            pattern = node.get("pattern")
            if isinstance(pattern, str):
                assert pattern.startswith("^"), path
                assert pattern.endswith("$"), path


def test_profiles_hold_every_flat_key() -> None:
    flat, top = FLAT["properties"], PROFILES["properties"]
    profile = load_schema("config-profiles")["$defs"]["profile"]["properties"]
    assert isinstance(flat, dict)
    assert isinstance(top, dict)
    assert set(top) - set(flat) == {"profiles", "default_profile"}
    assert set(flat) <= set(top)
    assert set(flat) - set(profile) == {"$schema", "schema_version", "framework"}
    assert set(profile) - set(flat) == {"threshold_profile"}


def test_params_are_those_of_the_model() -> None:
    stated = FLAT["properties"]["params"]["properties"]
    assert set(stated) == {field.name for field in attrs.fields(model.Params)} - {"given"}


@pytest.mark.parametrize(
    ("place", "cls"),
    [("task", model.AccuracyTaskSettings), ("needle", model.NeedleSettings), ("combination", model.Combo)],
)
def test_list_items_are_those_of_the_model(place: str, cls: type) -> None:
    stated = FLAT["$defs"][place]["properties"]
    assert set(stated) == {field.name for field in attrs.fields(cls)}


def test_paths_are_those_of_the_model_and_all_must_be_given() -> None:
    names = {field.name for field in attrs.fields(model.PathSettings)}
    assert set(FLAT["properties"]["paths"]["properties"]) == names
    assert set(FLAT["$defs"]["complete"]["properties"]["paths"]["required"]) == names


def test_thresholds_know_the_vocabulary() -> None:
    defs = load_schema("threshold")["$defs"]
    assert isinstance(defs, dict)
    assert defs["spec"]["properties"]["kind"]["enum"] == list(KINDS)
    checks = ("mtp.", "accuracy.", "quant_parity.")
    assert set(defs["cell"]["properties"]) == {name for name in METRICS if not name.startswith(checks)}


def plan_classes() -> list[type]:
    found = [value for value in vars(atomcfg.plan).values() if isinstance(value, type) and attrs.has(value)]
    return [cls for cls in found if cls.__module__ == "atomcfg.plan"]


# What the document states once for many: fields that a table holds, and the keys that point into it.
PACKED: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "Plan": ((), ("gates", "sheets", "commands", "servers")),
    "Cell": (("argv", "env", "specs"), ("command", "words", "sheet", "values")),
    "Session": (("key", "ranks", "probe", "ready_deadline_s"), ("server",)),
}
TABLES = {"Gate": (Spec, ("value",)), "Command": (Cell, ("specs",)), "Server": (Session, ())}


@pytest.mark.parametrize("cls", [cls for cls in plan_classes() if cls is not Spec], ids=lambda cls: cls.__name__)
def test_the_plan_schema_and_the_plan_agree(cls: type) -> None:
    plan = load_schema("plan")
    stated = plan if cls is atomcfg.plan.Plan else plan["$defs"][cls.__name__]
    attrs.resolve_types(cls)
    fields = {field.name: field.type for field in attrs.fields(cls)}
    elsewhere, instead = PACKED.get(cls.__name__, ((), ()))
    assert list(stated["properties"]) == stated["required"]
    assert set(stated["required"]) == set(fields) - set(elsewhere) | set(instead)
    for name in fields.keys() - set(elsewhere):
        _same(stated["properties"][name], fields[name], name)


@pytest.mark.parametrize("name", TABLES)
def test_the_tables_of_the_plan_schema_and_the_plan_agree(name: str) -> None:
    stated = load_schema("plan")["$defs"][name]
    cls, apart = TABLES[name]
    attrs.resolve_types(cls)
    fields = {field.name: field.type for field in attrs.fields(cls)}
    assert list(stated["properties"]) == stated["required"]
    assert set(stated["required"]) == (set(fields) if cls is Spec else set(PACKED[cls.__name__][0])) - set(apart)
    for key in set(stated["required"]) - {"argv"}:
        _same(stated["properties"][key], fields[key], key)


def test_a_command_of_the_plan_schema_has_words_and_gaps() -> None:
    argv = load_schema("plan")["$defs"]["Command"]["properties"]["argv"]
    assert argv["items"]["anyOf"] == [{"$ref": "#/$defs/Token"}, {"type": "null"}]


def _same(schema: dict[str, typing.Any], kind: typing.Any, name: str) -> None:
    arguments = typing.get_args(kind)
    if kind == Token:
        assert schema["$ref"] == "#/$defs/Token", name
    elif typing.get_origin(kind) is tuple and arguments[-1] is Ellipsis:
        assert schema["type"] == "array", name
        _same(schema["items"], arguments[0], name)
    elif typing.get_origin(kind) is tuple:
        assert len(schema["prefixItems"]) == schema["minItems"] == len(arguments), name
        for inner, argument in zip(schema["prefixItems"], arguments, strict=True):
            _same(inner, argument, name)
    elif isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union:
        assert type(None) in arguments, name
        assert "null" in str(schema), name
    elif attrs.has(kind):
        assert schema["$ref"] == f"#/$defs/{kind.__name__}", name
    else:
        words = {str: "string", int: "integer", bool: "boolean", float: "number"}
        if "enum" in schema or "const" in schema:
            assert kind in (str, int), name
        else:
            assert schema["type"] == words[kind], name
