from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve
from tests.judging import make_result, mixed_plan

from atomrun.comparison import PanelStatus, sheet_of
from atomrun.report.document import document
from atomrun.report.material import References, gather

PLAN = mixed_plan()
SHEET = sheet_of(make_result(PLAN), PLAN)
EARLIER = document(evolve(SHEET, run_id="run-0"), ())
POLL = '@ 5.0 amd-smi\n[{"gpu": 0, "mem_usage": {"used_vram": {"value": 7, "unit": "MB"}}}]\n'


def run_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "runs" / "run-1"
    (folder / "logs").mkdir(parents=True)
    return folder


def test_logs_with_the_first_error_before_them_and_polls_apart(tmp_path: Path) -> None:
    folder = run_folder(tmp_path)
    (folder / "logs" / "a.log").write_text("fine\n")
    (folder / "logs" / "b.log").write_text("x\nRuntimeError: no GPU\n")
    (folder / "logs" / "c.log").write_text(" \n")
    (folder / "logs" / "gpu-0.1.rank-0.log").write_text(POLL)
    (folder / "logs" / "gpu-0.1.rank-1.log").write_text("")
    found = gather(folder, SHEET, References())
    assert list(found.logs) == ["first error, in b.log", "a.log", "b.log"]
    assert found.logs["first error, in b.log"] == "RuntimeError: no GPU"
    assert {name: len(samples) for name, samples in found.polls.items()} == {"0.1.rank-0": 1}


@pytest.mark.parametrize("where", ["run-1", "."])
def test_a_report_beside_the_run_is_the_previous_one(tmp_path: Path, where: str) -> None:
    folder = run_folder(tmp_path)
    sibling = folder.parent / where / "prev_report.json"
    sibling.write_text(EARLIER)
    prev, accuracy, parity = gather(folder, SHEET, References()).panels
    assert (prev.status, Path(prev.source)) == (PanelStatus.SHOWN, sibling)
    assert (accuracy.status, parity.status) == (PanelStatus.EMPTY, PanelStatus.ABSENT)


def test_a_named_report_wins_and_may_be_a_run_folder(tmp_path: Path) -> None:
    folder = run_folder(tmp_path)
    (folder / "prev_report.json").write_text("broken")
    (tmp_path / "report.json").write_text(EARLIER)
    assert gather(folder, SHEET, References(prev=str(tmp_path))).panels[0].status is PanelStatus.SHOWN


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (None, "cannot read {}: No such file"),
        (b"\xff", "cannot read {}: not UTF-8"),
        (b"{}", "{}: not a report.json"),
    ],
)
def test_a_report_that_cannot_be_read_is_refused_with_the_reason(
    tmp_path: Path, data: bytes | None, why: str
) -> None:
    path = tmp_path / "x.json"
    if data is not None:
        path.write_bytes(data)
    panel = gather(run_folder(tmp_path), SHEET, References(parity=str(path))).panels[2]
    assert panel.status is PanelStatus.REFUSED
    assert panel.reason.startswith(why.format(path))
