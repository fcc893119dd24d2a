"""What the agent does against disks that fill up over weeks."""

from __future__ import annotations

import pytest

from .nodes import Node, job, script, wait_until


def test_a_log_beyond_its_limit_keeps_its_beginning_and_its_end(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATOMRUN_LOG_LIMIT", "20000")
    host = node.holder(lease_s=15)
    text = "echo first; i=0; while [ $i -lt 4000 ]; do echo line $i; i=$((i + 1)); done; sleep 4; echo last"
    host.start(job("chatty", *script(text)))
    assert host.wait(["chatty"], 60) is not None
    log = host.output("chatty", "out", 0, 1 << 20)
    assert log.startswith(b"first\n")
    assert b"atomrun: cut here" in log
    assert log.endswith(b"last\n")
    assert len(log) < 20000


def test_old_runs_are_pruned_and_nothing_else(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATOMRUN_KEPT_RUNS", "2")
    for number in range(5):
        host = node.holder(f"old-{number}")
        host.release(0)
        host.close()
    bystander = node.root / "past" / "not-ours"
    bystander.mkdir()
    host = node.holder("new")
    host.release(0)
    wait_until(lambda: len(list((node.root / "runs").iterdir())) <= 3)
    assert bystander.is_dir()
    assert (node.root / "runs" / "new").is_dir()
