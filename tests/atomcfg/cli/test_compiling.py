"""Which files a compilation reads, and files that cannot be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from atomcfg.cli.compiling import compile_files, local_user

from .inputs import CONFIG, NAME, write


@pytest.mark.parametrize("data", [b"[]", b'{"profiles": []}', b"{", b'{"threshold_json": 5}'])
def test_a_config_that_names_no_threshold_file(data: bytes) -> None:
    Path(NAME).write_bytes(data)
    assert compile_files(NAME).plan is None


def test_thresholds_that_an_option_or_a_lab_file_names() -> None:
    write("two_threshold.json", {})
    bare = {key: value for key, value in CONFIG.items() if key != "threshold_json"}
    write(NAME, bare)
    named = [("threshold_json", "two_threshold.json")]
    assert compile_files(NAME, cluster="cluster.json", overrides=named).plan is not None
    Path("lab.toml").write_text(
        '[per_config."x".set]\na = 1\n[set]\nthreshold_json = "two_threshold.json"\n', "utf-8"
    )
    assert compile_files(NAME, cluster="cluster.json").plan is not None
    Path("lab.toml").write_text("[", "utf-8")
    assert [item.code for item in compile_files(NAME).diagnostics] == ["A109"]


@pytest.mark.parametrize("name", ["a\0b", "x" * 300, "two_threshold.json/x"])
def test_names_that_no_file_can_have(name: str) -> None:
    write(NAME, {**CONFIG, "threshold_json": name})
    assert compile_files(NAME, cluster="cluster.json").plan is None
    result = compile_files(name)
    assert [item.code for item in result.diagnostics] == ["A901"]


def test_a_file_beyond_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    with Path("huge.json").open("wb") as stream:
        stream.truncate((256 << 20) + 1)
    result = compile_files("huge.json")
    assert [item.summary for item in result.diagnostics] == ["the config file is larger than 256 MiB"]


def test_a_user_without_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert local_user() == "alice"
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 987_654_321)
    assert local_user() == "user"
