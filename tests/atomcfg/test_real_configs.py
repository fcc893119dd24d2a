"""Every real config and profile compiles to the cells, ids and keys that CVS makes of it, in order."""

from __future__ import annotations

import json
from typing import Any

import pytest

from atomcfg import Plan, dump_plan, load_plan
from atomcfg.tokens import fill, fill_all

from .compiling import DATA, compile_shipped

ORACLE = sorted(path.name for path in (DATA / "oracle").glob("*.json"))
FABRIC = {"fabric_hca": "mlx5_0,mlx5_1", "fabric_netdev": "ens1"}
RUN = {"run_dir": "/RUN", "attempt": "1"}

# Stated in docs/differences-from-cvs.md: what our clients are given and CVS's are not, and where.
ATOM_CLIENT = ["--seed", "--burstiness", "--random-prefix-len", "--tokenizer-mode", "--metric-percentiles"]


def load(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((DATA / "oracle" / name).read_text())
    return document


def plan_of(name: str) -> Plan:
    oracle = load(name)
    result = compile_shipped("cvs", oracle["config"], oracle["profile"])
    assert result.plan is not None, [item.summary for item in result.diagnostics]
    return result.plan


@pytest.mark.parametrize("name", ORACLE)
def test_cells(name: str) -> None:
    oracle, plan = load(name), plan_of(name)
    assert [cell.id for cell in plan.cells] == oracle["parametrize_ids"]
    assert [cell.key for cell in plan.cells] == oracle["expected_cells"]
    assert [task.id for task in plan.checks.accuracy] == oracle["accuracy_task_ids"]
    assert [cell.id for cell in plan.checks.long_context] == oracle["long_context_cell_ids"]
    assert (plan.driver, plan.gpu_arch) == (oracle["driver"], oracle["gpu_arch"])
    assert plan.enforce_thresholds is oracle["enforce_thresholds"] is False
    assert [node.address for node in plan.nodes] == oracle["hosts"]


@pytest.mark.parametrize("name", ORACLE)
def test_one_session_when_the_server_is_reused(name: str) -> None:
    oracle, plan = load(name), plan_of(name)
    expected = 1 if oracle["reuse_server_flag"] else len(plan.cells)
    assert len(plan.sessions) == expected
    assert [cell for session in plan.sessions for cell in session.cells] == [cell.id for cell in plan.cells]


@pytest.mark.parametrize("name", ORACLE)
def test_server_words(name: str) -> None:
    """The very words of CVS, but for what SGLang is given beyond them."""
    oracle, plan = load(name), plan_of(name)
    sessions = {session.index: session for session in plan.sessions}
    for cell, expected in zip(plan.cells, oracle["cells"], strict=True):
        for rank, argv in zip(sessions[cell.session].ranks, expected["server_argv"], strict=True):
            words = list(fill_all(rank.argv, FABRIC))
            for extra in ("--context-length", "--log-level") if plan.driver == "sglang" else ():
                at = words.index(extra)
                del words[at : at + 2]
            assert words == ["10.0.0.1" if word == "{head-node-ip}" else word for word in argv]


@pytest.mark.parametrize("name", ORACLE)
def test_client_words(name: str) -> None:
    """Every flag of CVS with its value, but for the result's place and the percentiles, and the stated extras."""
    oracle, plan = load(name), plan_of(name)
    for cell, expected in zip(plan.cells, oracle["cells"], strict=True):
        ours, theirs = flags(list(fill_all(cell.argv, RUN))), flags(expected["client_argv"])
        for place in ("--result-dir", "--output-file", "--metric-percentiles"):
            ours.pop(place, None)
            theirs.pop(place, None)
        extras = {"atom": ATOM_CLIENT, "sglang": ["--seed"]}.get(plan.driver, [])
        seed = ours.pop("--seed")
        theirs.pop("--seed", None)
        for extra in extras:
            ours.pop(extra, None)
        assert ours == theirs
        assert seed == [str(cell.seed)]


def flags(argv: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {"": []}
    name = ""
    for word in argv:
        if word.startswith("--"):
            name = word
            assert name not in found
            found[name] = []
        else:
            found[name].append(word)
    return found


@pytest.mark.parametrize("name", ORACLE)
def test_seeds_differ_in_a_reused_session(name: str) -> None:
    plan = plan_of(name)
    for session in plan.sessions:
        seeds = [cell.seed for cell in plan.cells if cell.session == session.index]
        assert len(set(seeds)) == len(seeds)


@pytest.mark.parametrize("name", ORACLE)
def test_the_same_inputs_give_the_same_bytes(name: str) -> None:
    text = dump_plan(plan_of(name))
    assert dump_plan(plan_of(name)) == text
    assert load_plan(text) == plan_of(name)


@pytest.mark.parametrize("name", ORACLE)
def test_artifacts_lie_in_the_attempt_s_own_directory(name: str) -> None:
    for cell in plan_of(name).cells:
        directory = fill(cell.artifact.directory, RUN)
        assert directory.startswith("/RUN/cells/")
        assert any(directory in word for word in fill_all(cell.argv, RUN))


@pytest.mark.parametrize("name", ORACLE)
def test_every_spec_knows_its_line(name: str) -> None:
    plan = plan_of(name)
    lines = dict(plan.provenance.spec_lines)
    files = {path.name: path.read_text().splitlines() for path in (DATA / "cvs").glob("*threshold.json")}
    specs = [(cell.id, spec) for cell in plan.cells for spec in cell.specs]
    specs += [(task.id, spec) for task in plan.checks.accuracy for spec in task.specs]
    assert specs
    for owner, spec in specs:
        file, _, line = lines[f"{owner}/{spec.metric}"].rpartition(":")
        assert f'"{spec.metric}"' in files[file][int(line) - 1]
