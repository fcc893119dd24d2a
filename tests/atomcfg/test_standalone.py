"""Files that are checked by themselves: threshold and cluster files, plans."""

from __future__ import annotations

import pytest

from atomcfg import Source
from atomcfg.standalone import check_alone, role_of


@pytest.mark.parametrize(
    ("name", "data", "role"),
    [
        ("x_threshold.json", b"", "threshold"),
        ("cluster.json", b'{"node_dict": {}}', "cluster"),
        ("plan.json", b'{"plan_version": 1}', "plan"),
        ("config.json", b'{"params": {}}', "config"),
        ("config.json", b"[]", "config"),
        ("config.json", b"{", "config"),
        ("config.json", b"[" * 100_000, "config"),
    ],
)
def test_role(name: str, data: bytes, role: str) -> None:
    assert role_of(name, data) == role


@pytest.mark.parametrize(
    ("role", "data", "codes"),
    [
        ("threshold", b"{}", []),
        ("threshold", b'{"x": 1}', ["A201"]),
        ("threshold", b"{,}", ["A104"]),
        ("cluster", b'{"username": "a"}', ["A202", "A202"]),
    ],
)
def test_shape(role: str, data: bytes, codes: list[str]) -> None:
    assert [item.code for item in check_alone(Source(role, "x.json", data))] == codes


def test_a_secret_is_found_and_not_shown() -> None:
    data = b'{"username": "a", "env_vars": {"HF_TOKEN": "abcdef123"},\n "node_dict": {"a": {}}}'
    found = check_alone(Source("cluster", "x.json", data))
    assert [item.code for item in found] == ["A202", "A556"]
    assert "abcdef123" not in repr(found)
