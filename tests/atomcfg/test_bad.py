"""Every mistake in `bad/`, in every dialect that can hold it: the whole text that a user sees.

`python -m pytest tests/atomcfg/test_bad.py --accept` writes what is said now, for review in the difference.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from atomcfg.catalogue import CATALOGUE, migration

from .badcases import expected_file, folders, messages, run
from .dialects import DIALECTS

FOLDERS = tuple(folders())


@pytest.mark.parametrize("folder", FOLDERS, ids=[folder.name for folder in FOLDERS])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_said(folder: Path, dialect: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """The text is as expected; in another dialect the same is said, or its own file says what."""
    text = run(folder, dialect, tmp_path)
    file, flat = expected_file(folder, dialect), expected_file(folder, "flat")
    if request.config.getoption("accept"):
        same = dialect != "flat" and text is not None and messages(text) == messages(flat.read_text("utf-8"))
        file.unlink(missing_ok=True)
        if text is not None and not same:
            file.write_text(text, "utf-8")
        return
    if text is None:
        assert not file.exists()
    elif file.exists():
        assert text == file.read_text("utf-8")
    else:
        assert messages(text) == messages(flat.read_text("utf-8"))


@pytest.mark.parametrize("folder", FOLDERS, ids=[folder.name for folder in FOLDERS])
def test_the_code_is_in_every_dialect(folder: Path) -> None:
    """Whatever else a dialect says, it finds this fault; and a fault is an error, or the plan is there."""
    code = folder.name.split("-")[0]
    for path in folder.glob("expected*.txt"):
        said = path.read_text("utf-8")
        assert f"[{code}]" in said
        assert ("error[" in said) is said.endswith("exit 2\n")


def test_every_code_has_a_case() -> None:
    """But for the codes of `atomcfg migrate`, which no plan can draw."""
    cases = {folder.name.split("-")[0] for folder in FOLDERS}
    assert sorted(cases) == sorted(set(CATALOGUE) - {entry.code for entry in migration.ENTRIES})


def test_every_folder_holds_only_what_is_used() -> None:
    names = re.compile(r"config\.json|cluster\.json|lab\.toml|args\.json|.*threshold\.json|expected(\.\w+)?\.txt")
    for folder in FOLDERS:
        for path in folder.iterdir():
            assert names.fullmatch(path.name), path
        if (folder / "args.json").exists():
            args = json.loads((folder / "args.json").read_text("utf-8"))
            assert set(args) <= {"args", "asked", "cluster", "dialects", "env", "name"}
