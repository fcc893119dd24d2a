"""From a plan and wishes to a run: folder, journal, secrets, what is left out."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from attrs import evolve

from atomcfg.plan import Plan, SecretRef
from atomcfg.planio import load_plan, seal_plan
from atomrun.assembly import Request, assembled, left_out
from atomrun.context import RunContext
from atomrun.events import JsonSink
from atomrun.host import HostError
from atomrun.journal import read_journal
from atomrun.results import StageStatus
from atomrun.signals import Interrupts

from .runs import container_plan, with_ranks


@contextmanager
def made(plan: Plan, runs: Path, transport: str = "ssh") -> Iterator[RunContext]:
    request = Request(runs, transport, leave_out={"c0": "left out"})
    with assembled(seal_plan(plan)[0], request, JsonSink(io.StringIO()), Interrupts()) as run:
        yield run


def test_a_run_has_a_folder_with_its_plan_and_journal(tmp_path: Path) -> None:
    with made(container_plan(), tmp_path / "runs") as run:
        folder = run.folder.path
        assert folder == tmp_path / "runs" / run.run_id
    assert load_plan((folder / "plan.json").read_text()).stem == run.plan.stem
    (first,) = read_journal(folder / "journal.jsonl")
    assert (first["event"], first["id"], first["digest"]) == ("run", run.run_id, run.plan.digest)
    assert run.head.run_dir == f"/logs/atomrun/{run.run_id}"
    assert run.values["run_dir"] == f"/logs/atomrun/{run.run_id}"
    assert run.values["plan_digest"] == run.plan.digest
    assert run.record.deselected == {"c0": "left out"}
    assert "@" in run.owner


@pytest.mark.parametrize(
    ("content", "required", "transport", "status", "known"),
    [
        (b"hf_token_x\n", True, "ssh", StageStatus.OK, True),
        (None, False, "ssh", StageStatus.WARNING, False),
        (None, True, "ssh", StageStatus.FAILED, False),
        (b"two words", False, "ssh", StageStatus.FAILED, False),
        (None, True, "rehearsal", StageStatus.WARNING, False),
    ],
)
def test_a_token_file_is_a_finding_of_the_launcher(
    tmp_path: Path, content: bytes | None, required: bool, transport: str, status: StageStatus, known: bool
) -> None:
    path = tmp_path / "token"
    if content is not None:
        path.write_bytes(content)
    plan = evolve(container_plan(), secrets=(SecretRef("hf_token", str(path), required),))
    with made(plan, tmp_path / "runs", transport) as run:
        (finding,) = run.record.findings
        assert (finding.node, finding.status) == ("launcher", status)
        assert ("hf_token" in run.secrets) is known
        assert "two words" not in finding.text


def test_a_rehearsal_is_mapped_and_leaves_no_nodes(tmp_path: Path) -> None:
    with made(with_ranks(container_plan(), 2), tmp_path / "runs", "rehearsal") as run:
        values = [run.bound(node) for node in run.nodes]
        scratch = Path(values[0]["models_dir"]).parent
        assert scratch.is_dir()
        assert values[0]["run_dir"] != values[1]["run_dir"]
        assert (values[0]["address.0"], values[0]["address.1"]) == ("127.0.0.1", "127.0.1.2")
        assert values[0]["http_port"] != values[0]["master_port"]
        assert run.nodes[1].run_dir == values[1]["run_dir"]
    assert not scratch.exists()
    assert run.folder.path.is_dir()


def test_a_path_that_names_a_model_moves_with_the_models(tmp_path: Path) -> None:
    with made(container_plan(), tmp_path / "a") as run:
        assert run.placed("org/model") == "org/model"
        assert run.placed("/models/x") == "/models/x"
    with made(container_plan(), tmp_path / "b", "rehearsal") as run:
        assert run.placed("/models/x") == f"{run.values['models_dir']}/x"


def test_a_node_is_reached_when_it_is_needed_only(tmp_path: Path) -> None:
    plan = container_plan()
    with made(evolve(plan, nodes=(evolve(plan.nodes[0], address="-bad"),)), tmp_path) as run:
        with pytest.raises(AssertionError, match="not connected"):
            _ = run.head.host
        with pytest.raises(HostError):
            run.head.connect()


CHECKS = {"functional", "accuracy", "long_context", "mtp_quality", "quant_parity", "gpu_metrics", "dmesg"}


@pytest.mark.parametrize(
    ("cells", "only", "skip", "gone"),
    [
        ([], [], [], set()),
        (["c0"], [], [], {"c1", *CHECKS}),
        (["c0"], ["cells", "functional"], [], {"c1", *CHECKS} - {"functional"}),
        ([], ["accuracy"], [], {"c0", "c1", *CHECKS} - {"accuracy"}),
        ([], [], ["cells", "dmesg"], {"c0", "c1", "dmesg"}),
    ],
)
def test_what_is_left_out(cells: list[str], only: list[str], skip: list[str], gone: set[str]) -> None:
    reasons = left_out(container_plan(cells=2), frozenset(cells), frozenset(only), frozenset(skip))
    assert set(reasons) == gone
    assert json.dumps(reasons)
