"""The command line: usage, plans that cannot be executed, and runs that are read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attrs import evolve
from tests.atomrun.runs import container_plan, with_ranks
from tests.judging import artifact, make_attempt, make_run

from atomcfg._version import __version__
from atomcfg.plan import Plan
from atomcfg.planio import seal_plan
from atomrun.__main__ import main
from atomrun.cells import incomplete_cell, judge_cell
from atomrun.cli.options import with_hyphens
from atomrun.conclude import conclude
from atomrun.folder import attempt_folder, write_whole
from atomrun.resultio import dump

Capture = pytest.CaptureFixture[str]


def written(tmp_path: Path, plan: Plan | None = None) -> Path:
    path = tmp_path / "plan.json"
    path.write_text(seal_plan(plan or container_plan())[1])
    return path


def complained(capsys: Capture, *argv: str) -> str:
    """The complaint of a command that cannot be carried out: two lines on standard error, no traceback."""
    assert main(argv) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    assert "Traceback" not in captured.err
    return captured.err


@pytest.mark.parametrize("argv", [["--version"], ["-h"], ["run", "-h"], ["execute", "--help"]])
def test_help_and_version(capsys: Capture, argv: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(argv)
    assert caught.value.code == 0
    assert "atomrun" in capsys.readouterr().out
    assert __version__


@pytest.mark.parametrize("argv", [[], ["nonsense"], ["execute"], ["execute", "x", "--transport", "carrier-pigeon"]])
def test_usage(capsys: Capture, argv: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(argv)
    assert caught.value.code == 2
    assert "usage: atomrun" in capsys.readouterr().err


def test_options_may_be_spelled_as_cvs_does() -> None:
    argv = ["run", "--config_file", "a_b.json", "--cluster_file=c_d.json", "--fail_fast", "--set", "a_b=c_d", "-v"]
    assert with_hyphens(argv) == [
        "run", "--config-file", "a_b.json", "--cluster-file=c_d.json", "--fail-fast", "--set", "a_b=c_d", "-v",
    ]  # fmt: skip


# --- plans that cannot be executed


def test_a_plan_changed_by_one_byte(capsys: Capture, tmp_path: Path) -> None:
    path = written(tmp_path)
    text = path.read_text()
    path.write_text(text.replace("docker", "d0cker", 1))
    said = complained(capsys, "execute", str(path))
    assert "the plan was changed after it was written: its seal does not fit" in said
    assert "hint: compile it again" in said


def test_a_plan_with_an_unresolved_value(capsys: Capture, tmp_path: Path) -> None:
    path = written(tmp_path, evolve(container_plan(), unresolved=("container.image", "paths.log_dir")))
    for command in ("execute", "rehearse", "preflight"):
        said = complained(capsys, command, str(path))
        assert "values are missing: container.image, paths.log_dir" in said
        assert "lab file" in said


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "No such file or directory"),
        (b"\xff\xfe", "not UTF-8"),
        (b"{}", "there is no plan_version"),
        (b"[", "not a plan"),
    ],
)
def test_what_is_no_plan(capsys: Capture, tmp_path: Path, content: bytes | None, reason: str) -> None:
    path = tmp_path / "plan.json"
    if content is not None:
        path.write_bytes(content)
    assert reason in complained(capsys, "execute", str(path))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--cell", "nope"], "the plan has no cell 'nope'"),
        (["--session", "7"], "the plan has no session 7"),
        (["--lease", "0"], "--lease 0"),
    ],
)
def test_wishes_that_the_plan_does_not_know(
    capsys: Capture, tmp_path: Path, options: list[str], reason: str
) -> None:
    assert reason in complained(capsys, "execute", str(written(tmp_path)), *options)


def test_the_local_transport_has_one_node(capsys: Capture, tmp_path: Path) -> None:
    path = written(tmp_path, with_ranks(container_plan(), 2))
    assert "the local transport has one node" in complained(capsys, "execute", str(path), "--transport", "local")


def test_an_unreachable_node(capsys: Capture, tmp_path: Path) -> None:
    plan = container_plan()
    path = written(tmp_path, evolve(plan, nodes=(evolve(plan.nodes[0], address="-nonsense"),)))
    code = main(["execute", str(path), "--runs", str(tmp_path / "runs")])
    captured = capsys.readouterr()
    assert code == 3
    assert "finding unreachable failed" in captured.err
    assert captured.out.splitlines()[0].startswith("report: ")
    assert main(["preflight", str(path), "-q"]) == 3
    told = capsys.readouterr().err
    assert told.startswith("error: a run could not begin: ")
    assert "\nhint: " in told


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--config-file", "/no/such.json"], "cannot read the config file"),
        (["--config-file", "x", "--set", "novalue"], "--set novalue: there is no value"),
    ],
)
def test_run_reports_what_the_compiler_finds(capsys: Capture, options: list[str], reason: str) -> None:
    assert main(["run", "--cluster-file", "/no/such.json", *options]) == 2
    assert reason in capsys.readouterr().err


# --- runs that are read


RUN = "mi3xx_x-0123abcd-20260501T120000.000Z"


def stored(runs: Path, name: str = RUN) -> Path:
    """A finished run of three cells: good, slow, never finished."""
    plan, text_of_plan = seal_plan(container_plan(cells=3))
    folder = runs / name
    cells = []
    for cell, text in zip(plan.cells, (artifact(), artifact(output_throughput=2500.0)), strict=False):
        where = folder / attempt_folder(cell, 1)
        facts = {"cell": cell.id, "attempt": 1, "exit": 0, "began": "", "seconds": 42.0}
        write_whole(where / "attempt.json", json.dumps(facts).encode())
        write_whole(where / "results.json", text.encode())
        cells.append(judge_cell(plan, cell, make_attempt(text)))
    cells.append(incomplete_cell(plan, plan.cells[2], "the server died", "read its log", attempt=1))
    launch = {"n": 1, "t": 0, "event": "run", "id": name, "digest": plan.digest, "began": "", "leave_out": {}}
    write_whole(folder / "journal.jsonl", json.dumps({**launch, "transport": "ssh"}).encode() + b"\n")
    write_whole(folder / "plan.json", text_of_plan.encode())
    result = conclude(plan, make_run(cells=tuple(cells), transport="ssh"))
    write_whole(folder / "verdicts.json", dump(result).encode())
    return folder


def test_a_folder_without_runs(capsys: Capture, tmp_path: Path) -> None:
    assert main(["runs", "--runs", str(tmp_path / "none")]) == 0
    assert capsys.readouterr() == ("", f"there are no runs in {tmp_path / 'none'}\n")


def test_runs_are_listed_newest_first(capsys: Capture, tmp_path: Path) -> None:
    stored(tmp_path)
    write_whole(tmp_path / "a-0123abcd-20260601T120000.000Z/journal.jsonl", b"")
    write_whole(tmp_path / "a-0123abcd-20260401T120000.000Z/journal.jsonl", b"")
    write_whole(tmp_path / "a-0123abcd-20260401T120000.000Z/verdicts.json", b"{")
    (tmp_path / "something else").mkdir()
    assert main(["runs", "--runs", str(tmp_path)]) == 0
    first, second, third = capsys.readouterr().out.splitlines()
    assert first == "a-0123abcd-20260601T120000.000Z  unfinished"
    assert second.startswith(f"{RUN}  INFRASTRUCTURE")
    assert second.endswith("3 cells")
    assert "unreadable: not JSON" in third


def test_a_run_is_shown_with_its_own_exit_status(capsys: Capture, tmp_path: Path) -> None:
    folder = stored(tmp_path)
    for name in (str(folder), RUN, "mi3xx_x-01"):
        assert main(["show", name, "--runs", str(tmp_path)]) == 3
        assert "c2 is incomplete: the server died" in capsys.readouterr().out


def test_a_run_is_judged_again_from_its_artifacts(capsys: Capture, tmp_path: Path) -> None:
    folder = stored(tmp_path)
    assert main(["show", str(folder)]) == 3
    shown = capsys.readouterr().out
    assert main(["gate", str(folder)]) == 3
    assert capsys.readouterr().out == shown
    write_whole(folder / "artifacts/c0/results.json", artifact(completed=10).encode())
    main(["gate", str(folder)])
    assert "c0 is invalid" in " ".join(capsys.readouterr().out.split()), "the artifact decides, not what was said"
    (folder / "artifacts/c1/results.json").unlink()
    main(["gate", str(folder)])
    assert "c1 is invalid: the client left no artifact" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("name", "broken", "reason"),
    [
        ("nope", "", "there is no run 'nope'"),
        ("mi3xx", "second", "'mi3xx' is the beginning of 2 runs"),
        (RUN, "verdicts.json", f"{RUN} has no verdicts.json"),
        (RUN, "plan.json", "plan.json: No such file or directory"),
        (RUN, "artifacts/c0/attempt.json", "attempt.json: No such file or directory"),
    ],
)
def test_runs_that_cannot_be_judged(capsys: Capture, tmp_path: Path, name: str, broken: str, reason: str) -> None:
    folder = stored(tmp_path)
    if broken == "second":
        stored(tmp_path, RUN.replace("0501", "0502"))
    elif broken:
        (folder / broken).unlink()
    assert reason in complained(capsys, "gate", name, "--runs", str(tmp_path))


def test_a_journal_that_is_none_is_no_order_to_clean(capsys: Capture, tmp_path: Path) -> None:
    folder = stored(tmp_path)
    (folder / "journal.jsonl").write_text('{"n": 1, "event": "run", "transport": "rehearsal"}\n')
    assert "the run's journal is not what a run writes: t is no number in record 1" in complained(
        capsys, "cleanup", str(folder)
    )


def test_nodes_that_cannot_be_reached_cannot_be_cleaned(capsys: Capture, tmp_path: Path) -> None:
    folder = stored(tmp_path)
    plan = container_plan()
    text = seal_plan(evolve(plan, nodes=(evolve(plan.nodes[0], address="-nonsense"),)))[1]
    write_whole(folder / "plan.json", text.encode())
    assert main(["cleanup", RUN, "--runs", str(tmp_path)]) == 3
    assert "finding unreachable failed" in capsys.readouterr().err


@pytest.mark.parametrize(("broken", "reason"), [("verdicts.json", "not JSON"), ("plan.json", "not a plan")])
def test_runs_whose_files_are_damaged(capsys: Capture, tmp_path: Path, broken: str, reason: str) -> None:
    (stored(tmp_path) / broken).write_text("{")
    assert reason in complained(capsys, "gate", RUN, "--runs", str(tmp_path))
