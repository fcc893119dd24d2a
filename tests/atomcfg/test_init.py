"""`atomcfg init`: a shipped config becomes a folder that plans, with only the lab file to fill."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from atomcfg import Source
from atomcfg.__main__ import main
from atomcfg.cli.compiling import compile_files
from atomcfg.cli.shipped import examples
from atomcfg.diagnostics import Severity
from atomcfg.documents import Document
from atomcfg.placeholders import leftovers
from atomcfg.planio import load_plan
from atomcfg.starter import starter

STEMS = [example.stem for example in examples()]
NODES = {example.stem: example.nnodes for example in examples()}
FILLED = {
    "<changeme-models-mount>": "/data/models",
    "<changeme-image>": "rocm/atom-dev:latest",
    "{head-node-ip}": "10.0.0.1",
    "{worker-node-ip}": "10.0.0.2",
}
KNOWN = ("A555", "A711")  # as their upstream has it


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("init") / "my lab"
    assert main(["init", str(folder), *STEMS]) == 0
    return folder


def filled(path: Path) -> str:
    text = path.read_text("utf-8")
    for token, value in FILLED.items():
        text = text.replace(f'= "{token}"', f'= "{value}"')
    return text


@pytest.mark.parametrize("stem", STEMS)
def test_with_the_lab_file_filled_it_plans(stem: str, made: Path, tmp_path: Path) -> None:
    folder = tmp_path / stem
    folder.mkdir()
    for path in (made / stem).iterdir():
        text = filled(path) if path.name == "lab.toml" else path.read_text("utf-8")
        (folder / path.name).write_text(text)
    config, cluster, plan = (str(folder / name) for name in (f"{stem}.json", "cluster.json", "plan.json"))
    assert main(["plan", config, "--cluster", cluster, "-o", plan]) == 0
    made_plan = load_plan(Path(plan).read_text("utf-8"))
    assert [node.address for node in made_plan.nodes] == ["10.0.0.1", "10.0.0.2"][: NODES[stem]]
    result = compile_files(config, cluster=cluster)
    warned = {item.code for item in result.diagnostics if item.severity is Severity.WARNING}
    assert warned <= set(KNOWN), "no value of the lab file is unused"


@pytest.mark.parametrize("stem", STEMS)
def test_unfilled_it_says_what_is_open(stem: str, made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config, cluster = str(made / stem / f"{stem}.json"), str(made / stem / "cluster.json")
    assert main(["plan", config, "--cluster", cluster]) == 2
    err = capsys.readouterr().err
    assert "error[A316]" in err
    asked = tomllib.loads((made / stem / "lab.toml").read_text("utf-8"))["values"]
    assert all(token in err for token in asked.values())


@pytest.mark.parametrize("stem", STEMS)
def test_the_lab_file_asks_for_all_that_is_open_and_says_where(stem: str, made: Path) -> None:
    text = (made / stem / "lab.toml").read_text("utf-8")
    asked = tomllib.loads(text)["values"]
    tokens = set()
    for name in (f"{stem}.json", "cluster.json"):
        document = Document(json.loads((made / stem / name).read_text("utf-8")), {})
        tokens |= {token for _, _, token in leftovers(document)}
    assert set(asked.values()) == tokens
    for name in asked:
        above = re.search(rf"((?:^#.*\n)+){re.escape(name)} = ", text, re.M)
        assert above, name
        assert re.search(r"# [\w.\[\], -]+\S*.*: [A-Z]", above.group(1)), "a place, and what it is for"


@pytest.mark.parametrize("stem", STEMS)
def test_the_schema_is_where_the_files_say(stem: str, made: Path) -> None:
    for path in (made / stem).glob("*.json"):
        schema = path.parent / json.loads(path.read_text("utf-8"))["$schema"]
        assert schema.resolve().is_file()
        assert schema.resolve().parent == made / ".schemas"


def test_the_folder_checks(made: Path) -> None:
    assert main(["check", "-q", str(made)]) == 0


def test_what_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "my lab"
    stem = "mi3xx_atom_deepseek-r1_fp8_single"
    assert main(["init", str(folder), f"{stem}.json", stem]) == 0
    at = f"{folder}/{stem}"
    assert capsys.readouterr().out == (
        f"{at}: {stem}.json, mi325x_atom_deepseek-r1_fp8_single_threshold.json, cluster.json, lab.toml\n"
        f"fill in {at}/lab.toml (changeme-models-mount, head-node-ip), then\n"
        f"  atomcfg plan '{at}/{stem}.json' --cluster '{at}/cluster.json' -o '{at}/plan.json'\n"
        f"  atomrun execute '{at}/plan.json'\n"
    )
    assert (folder / stem / "lab.toml").read_text() == LAB
    other = "mi3xx_atom_qwen3.5-397b-a17b_fp8_single"
    assert main(["init", str(folder), other]) == 0, "a second config beside it"


LAB = """\
# What this lab supplies to mi3xx_atom_deepseek-r1_fp8_single. It is read because it lies beside the
#   config.
# Replace what stands to the right of each =; above it: where the value goes, and what for.

[values]
# container.runtime.args.volumes[1] in <changeme-models-mount>:/models:ro: Bind mounts,
#   SOURCE:TARGET or SOURCE:TARGET:OPTIONS. Each source must exist on every node.
changeme-models-mount = "<changeme-models-mount>"

# cluster.json, head_node_dict.mgmt_ip: Address of rank 0; one of node_dict.
# cluster.json, node_dict: Nodes by the address where the launcher logs in, in rank order after the
#   head.
# cluster.json, node_dict["{head-node-ip}"].vpc_ip: Address that the other nodes use. Absent: the
#   node's own key.
head-node-ip = "{head-node-ip}"
"""


def test_nothing_is_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = tmp_path / STEMS[1] / "lab.toml"
    mine.parent.mkdir()
    mine.write_text("mine")
    assert main(["init", str(tmp_path), *STEMS[:2]]) == 2
    assert capsys.readouterr().err == (
        f"error: {mine} exists: nothing was written\nhint: choose another folder, or move it away\n"
    )
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["lab.toml"]


@pytest.mark.parametrize(
    ("stem", "hint"),
    [
        ("mi3xx_atom_deepseek-r1_fp8_singel", 'did you mean "mi3xx_atom_deepseek-r1_fp8_single"?'),
        ("llama", "see atomcfg list"),
    ],
)
def test_an_unknown_stem(stem: str, hint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(tmp_path), STEMS[0], stem]) == 2
    assert capsys.readouterr().err == f'error: no shipped config is called "{stem}"\nhint: {hint}\n'
    assert list(tmp_path.iterdir()) == []


def lab_of(config: object) -> str:
    """The lab file for a config on one closed node."""
    cluster = b'{"username": "u", "head_node_dict": {"mgmt_ip": "a"}, "node_dict": {"a": {}}}'
    made = starter(
        Source("config", "x.json", json.dumps(config).encode()),
        Source("threshold", "x_threshold.json", b"{}"),
        Source("cluster", "c.json", cluster),
        1,
    )
    assert set(made.texts) == {"x.json", "x_threshold.json", "cluster.json", "lab.toml"}
    return made.texts["lab.toml"]


def test_a_token_without_a_name_is_asked_for_by_its_path() -> None:
    text = lab_of({"container": {"image": "<changeme>"}, "paths": {"models_dir": "<changeme-m>"}})
    assert tomllib.loads(text) == {
        "values": {"changeme-m": "<changeme-m>"},
        "set": {"container.image": "<changeme>"},
    }
    assert "# container.image: Image on the GPU nodes" in text


def test_a_config_that_leaves_nothing_open() -> None:
    assert lab_of({}).endswith("# This config leaves nothing open.\n")
