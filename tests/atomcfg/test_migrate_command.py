"""`atomcfg migrate` on files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from atomcfg.__main__ import main

OLDER = Path(__file__).parents[1] / "data" / "cvs-older"
STEM = "mi300x_atom_deepseek-r1_fp8"


def test_a_folder_of_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["migrate", *map(str, sorted(OLDER.glob("*.json"))), "-o", str(tmp_path / "new" / "deep"), "--merge"]
    assert main(argv) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith(f"{tmp_path}/new/deep/{STEM}_single.json\n  profile perf from {STEM}_single.json\n")
    assert "  as it was, but for its layout\n" in out
    made = sorted(path.name for path in (tmp_path / "new" / "deep").iterdir())
    assert len(made) == 28
    assert main(["check", "-q", str(tmp_path)]) == 0


def test_nothing_is_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = str(OLDER / f"{STEM}_single.json")
    taken = tmp_path / f"{STEM}_single_threshold.json"
    taken.write_text("mine")
    assert main(["migrate", source, "-o", str(tmp_path)]) == 2
    assert capsys.readouterr() == (
        "", f"error: {taken} exists: nothing was written\nhint: choose another folder, or move it away\n"
    )  # fmt: skip
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]


def test_what_does_not_compile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in (f"{STEM}_single.json", f"{STEM}_single_threshold.json"):
        shutil.copyfile(OLDER / name, tmp_path / name)
    config = tmp_path / f"{STEM}_single.json"
    config.write_text(config.read_text().replace("num_prompts", "num_promts"))
    assert main(["migrate", str(config), "-o", str(tmp_path / "new")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f'error[A201]: unknown key "num_promts"\n  --> {config}:')
    assert err.endswith("1 error\n")
    assert not (tmp_path / "new").exists()


def test_a_lab_file_beside_it_is_no_part_of_it(tmp_path: Path) -> None:
    for name in (f"{STEM}_single.json", f"{STEM}_single_threshold.json"):
        shutil.copyfile(OLDER / name, tmp_path / name)
    (tmp_path / "lab.toml").write_text("[set]\nnonsense")
    assert main(["migrate", str(tmp_path / f"{STEM}_single.json"), "-o", str(tmp_path / "new"), "-q"]) == 0


def test_a_threshold_file_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = f"{STEM}_single_threshold.json"
    assert main(["migrate", str(OLDER / name), str(OLDER / name), "-o", str(tmp_path), "-q"]) == 0
    assert capsys.readouterr().out == ""
    assert "ISL=1024,OSL=1024,TP=8,PP=1,CONC=128" in json.loads((tmp_path / name).read_text())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "error[A901]: cannot read the config file: No such file or directory"),
        ('{"node_dict": {}}', "error: {} is a cluster file\nhint: give configs and threshold files"),
    ],
)
def test_other_files(text: str | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.json"
    if text is not None:
        path.write_text(text)
    assert main(["migrate", str(path), "-o", str(tmp_path / "new")]) == 2
    assert capsys.readouterr().err.startswith(said.format(path))


def test_a_folder_that_cannot_be_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    status = main(["migrate", str(OLDER / f"{STEM}_single_threshold.json"), "-o", str(tmp_path / "file" / "x")])
    assert status == 2
    assert capsys.readouterr().err == f"error: cannot make {tmp_path}/file/x: Not a directory\n"


def test_a_folder_that_takes_no_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", str(OLDER / f"{STEM}_single_threshold.json"), "-o", "/proc"]) == 2
    assert capsys.readouterr().err.startswith(f"error: cannot write /proc/{STEM}_single_threshold.json: ")
