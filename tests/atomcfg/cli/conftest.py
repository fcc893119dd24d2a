"""A folder of its own for every test of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from .inputs import CLUSTER, CONFIG, NAME, THRESHOLDS, write


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a config, its thresholds and a cluster file."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOGNAME", "alice")
    write(NAME, CONFIG)
    write("one_threshold.json", THRESHOLDS)
    write("cluster.json", CLUSTER)
    return tmp_path
