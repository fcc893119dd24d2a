"""Promises 2, 3, 9, 12, 13 and the rest of 4 and 5: whole runs against real nodes, disturbed."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from .bench import DISTRIBUTED, Bench, until
from .checks import assert_clean, find_text
from .cluster import Cluster
from .conftest import connect
from .desk import CANARY, PHASES, QUICK, Desk
from .faults import lapse
from .node import Node
from .processes import wait_until

FULL = os.environ.get("HYPOTHESIS_PROFILE") == "full"
in_full = pytest.mark.skipif(not FULL, reason="part of make test-full")
pytestmark = [pytest.mark.usefixtures("tidy"), in_full]  # minutes of faults against whole runs
ONE = 'sweep.runs=[{"combo":"chat","concurrency":8}]'
SLOW = 'roles.server.env.STANDIN_SPEED="0.1"'  # a cell of 8 prompts lasts seven seconds
LEASE_S = 40


def in_node(node: Node, name: str) -> int:
    """The node's process that carries the name of a job and is no wrapper of ours."""
    for process in node.processes():
        job = process.environment.get("ATOMRUN_JOB", "")
        if job.endswith(f"/{name}") and process.argv[:1] and "python" in process.argv[0] and "-m" in process.argv:
            return process.pid
    raise LookupError(name)


# --- 2: a lost connection is no failure


FAULTS = ("cut", "hole", "sshd")
DISTURBED = [(fault, phase) for fault in FAULTS for phase in ("launch", "loading", "bench", "collect", "teardown")]


@pytest.mark.parametrize(("fault", "phase"), DISTURBED if FULL else random.Random(2).sample(DISTURBED, 2))
def test_a_lost_connection_is_no_failure(
    desk: Desk, cluster_file: Callable[..., Path], fault: str, phase: str
) -> None:
    node = desk.cluster.nodes[0]
    with desk.cluster.proxy(node) as proxy:
        cluster_file(desk.folder, 1, proxies=[proxy])
        plan = desk.plan(QUICK)
        with desk.running(plan) as run:
            run.until(*PHASES[phase])
            if fault == "sshd":
                node.exec(["sh", "-c", "kill -9 $(pgrep -f '[s]shd: root')"])
            else:
                getattr(proxy, {"cut": "cut", "hole": "black_hole"}[fault])()
                lapse(3)
                proxy.passing()
            assert run.end() == 0, run.said
    assert [cell["state"] for cell in desk.verdicts["cells"]] == ["valid", "valid"]
    for path in desk.run_folder.glob("artifacts/cells/*/1/results.json"):
        there = node.path(f"/home/root/LOGS/atomrun/{desk.run_folder.name}") / path.relative_to(
            desk.run_folder / "artifacts"
        )
        assert hashlib.sha256(path.read_bytes()).digest() == hashlib.sha256(there.read_bytes()).digest()


# --- 3: a run whose launcher was killed goes on


def test_a_killed_run_goes_on_with_the_same_server_and_client(desk: Desk, noted: Callable[..., None]) -> None:
    node = desk.cluster.nodes[0]
    plan = desk.plan(ONE, SLOW, "params.num_prompts=24")
    with desk.running(plan, "--lease", str(LEASE_S)) as run:
        run.until(*PHASES["bench"])
        wait_until(lambda: _there(node, "cell-0.1"), "the client to run")
        before = in_node(node, "server-0.1"), in_node(node, "cell-0.1")
        run.signal(signal.SIGKILL)
        run.end()
    assert "nobody drives it" in desk.atomrun("status", desk.run_folder.name).stdout
    assert (in_node(node, "server-0.1"), in_node(node, "cell-0.1")) == before
    done = desk.atomrun("resume", desk.run_folder.name)
    assert "1 sessions adopted" in (desk.run_folder / "journal.jsonl").read_text()
    assert [cell["attempt"] for cell in desk.verdicts["cells"]] == [1]
    assert [cell["state"] for cell in desk.verdicts["cells"]] == ["valid"], done.stderr
    assert desk.verdicts["facts"]["launches"] == "2"


def _there(node: Node, name: str) -> bool:
    try:
        return bool(in_node(node, name))
    except LookupError:
        return False


def test_an_interrupted_run_goes_on_and_says_that_it_is_mixed(desk: Desk) -> None:
    plan = desk.plan(QUICK)
    with desk.running(plan) as run:
        run.until(*PHASES["bench"], count=2)
        run.signal(signal.SIGINT)
        assert run.end() == 130
    assert_clean(desk.cluster.nodes[0], within=2)
    done = desk.atomrun("resume", desk.run_folder.name)
    assert done.returncode == 0, done.stderr
    assert [(cell["state"], cell["attempt"]) for cell in desk.verdicts["cells"]] == [("valid", 1), ("valid", 2)]
    assert any(text.startswith("a mixed run: chat-conc1 ") for text in desk.verdicts["warnings"])
    again = desk.atomrun("resume", desk.run_folder.name)
    assert again.returncode == 2
    assert "came to its end" in again.stderr


@in_full
def test_a_node_that_rebooted_is_used_anew(desk: Desk) -> None:
    node = desk.cluster.nodes[0]
    plan = desk.plan(QUICK, "params.num_prompts=64", "roles.server.env.STANDIN_SPEED=20")
    with desk.running(plan) as run:
        run.until(*PHASES["bench"], count=2)
        wait_until(lambda: _there(node, "cell-1.1"), "the client to run")
        run.signal(signal.SIGKILL)
        run.end()
    node.crash()
    node.boot()
    node.wait_ready()
    done = desk.atomrun("resume", desk.run_folder.name)
    assert done.returncode == 0, done.stderr
    assert [(cell["state"], cell["attempt"]) for cell in desk.verdicts["cells"]] == [("valid", 1), ("valid", 2)]


# --- status, stop, cleanup


def test_a_run_is_seen_and_stopped_from_another_terminal(desk: Desk) -> None:
    plan = desk.plan(ONE, SLOW, "params.num_prompts=64")
    with desk.running(plan) as run:
        run.until(*PHASES["bench"])
        name = desk.run_folder.name
        assert f"running, driven by process {run.process.pid}" in desk.atomrun("status", name).stdout
        assert f"{name}  running (process {run.process.pid}" in desk.atomrun("runs").stdout
        refused = desk.atomrun("resume", name)
        assert (refused.returncode, "drives" in refused.stderr) == (2, True)
        assert "drives" in desk.atomrun("cleanup", name).stderr
        thread = threading.Thread(target=run.end)
        thread.start()
        stopped = desk.atomrun("stop", name)
        thread.join()
        assert stopped.returncode == 0, stopped.stderr
        assert run.process.returncode == 130
    assert "INTERRUPTED" in desk.atomrun("status", name).stdout


def test_what_a_killed_launcher_left_is_cleaned_up(desk: Desk, noted: Callable[..., None]) -> None:
    node = desk.cluster.nodes[0]
    plan = desk.plan(ONE, SLOW, "roles.server.env.STANDIN_FAULT_ESCAPE=1")
    with desk.running(plan) as run:
        run.until(*PHASES["bench"])
        run.signal(signal.SIGKILL)
        run.end()
    busy = desk.atomrun("execute", str(plan), "--skip", "functional")
    assert busy.returncode == 3
    left = next(path.name for path in (desk.folder / "runs").iterdir() if not (path / "verdicts.json").exists())
    assert f"in use by run {left}" in busy.stderr
    began = time.monotonic()
    done = desk.atomrun("cleanup", left)
    noted(cleanup=round(time.monotonic() - began, 2))
    assert done.returncode == 0, done.stderr
    assert_clean(node, within=1)


# --- 1 and 4: how fast


def test_ctrl_c_leaves_a_clean_node_soon(desk: Desk, noted: Callable[..., None]) -> None:
    plan = desk.plan(ONE, SLOW)
    with desk.running(plan) as run:
        run.until(*PHASES["bench"])
        lapse(1)
        began = time.monotonic()
        run.signal(signal.SIGINT)
        wait_until(lambda: not any(True for _ in desk.cluster.nodes[0].containers()), "no container", 30)
        noted(containers_gone=round(time.monotonic() - began, 2))
        assert run.end() == 130
        assert_clean(desk.cluster.nodes[0], within=2)
        noted(ctrl_c_clean=round(time.monotonic() - began, 2))


def test_a_cancelled_ci_job_leaves_a_clean_node(desk: Desk, noted: Callable[..., None]) -> None:
    """As GitHub does it: INT, TERM 7.5 s later, KILL 2.5 s after that. The server would take ten seconds to end."""
    plan = desk.plan(ONE, SLOW, "roles.server.env.STANDIN_FAULT_IGNORE_TERM=1")
    with desk.running(plan, env={"CI": "true"}) as run:
        run.until(*PHASES["bench"])
        began = time.monotonic()
        run.signal(signal.SIGINT)
        run.end()
        noted(ci_cancel=round(time.monotonic() - began, 2))
    assert_clean(desk.cluster.nodes[0], within=2)


def test_the_death_of_a_server_under_load_ends_its_cell(desk: Desk, noted: Callable[..., None]) -> None:
    node = desk.cluster.nodes[0]
    plan = desk.plan(ONE, SLOW)
    with desk.running(plan) as run:
        run.until(*PHASES["bench"])
        wait_until(lambda: _there(node, "cell-0.1"), "the client to run")
        node.exec(["kill", "-9", str(in_node(node, "server-0.1"))])
        killed = time.monotonic()
        known = run.until("log", "")
        noted(server_death=round(known - killed, 3))
        assert known - killed < 2.0
        assert run.end() == 3
    assert "ended with signal 9, cause unknown" in desk.verdicts["cells"][0]["reason"]


# --- 5: nothing hangs


@in_full
def test_a_server_that_never_gets_ready_is_given_up(desk: Desk) -> None:
    plan = desk.plan(ONE, "roles.server.env.STANDIN_FAULT_HANG_LOADING=1", "params.server_poll_count=1")
    done = desk.atomrun("execute", str(plan), "-q")
    assert done.returncode == 3
    assert "the server is not ready after" in desk.verdicts["cells"][0]["reason"]


# --- 9: secrets


def forms(secret: str) -> Iterator[bytes]:
    """What a secret looks like in what others write."""
    raw = secret.encode()
    yield raw
    yield raw.hex().encode()
    for shift in range(3):
        # without the characters at the ends, which its neighbours decide too
        yield base64.b64encode(b"x" * shift + raw)[4:-4]


def test_a_token_is_nowhere_but_where_it_is_used(desk: Desk) -> None:
    """Sampled on both sides while the run lasts; afterwards every byte that it wrote is looked at."""
    node = desk.cluster.nodes[0]
    plan = desk.plan(QUICK, "roles.server.env.STANDIN_FAULT_TALKATIVE=1", "params.num_prompts=32")
    seen: set[str] = set()
    over = threading.Event()

    def sample() -> None:
        while not over.is_set():
            for folder in (Path("/proc"), node.path("/proc")):
                for path in folder.glob("[0-9]*/cmdline"):
                    try:
                        if CANARY.encode() in path.read_bytes():
                            seen.add(str(path))
                    except OSError:
                        continue
            seen.update(f"inspect {line}" for line in inspect(node) if CANARY in line)
            over.wait(0.05)

    with ExitStack() as stack:
        thread = threading.Thread(target=sample)
        stack.callback(thread.join)
        stack.callback(over.set)
        thread.start()
        done = desk.atomrun("execute", str(plan), "--json", "-v")
    assert done.returncode == 0, done.stderr
    assert seen == set()
    log = (desk.run_folder / "logs/server-0.1.rank-0.out.log").read_text()
    assert "HF_TOKEN=****" in log, "the server had it, and printed it"
    for form in forms(CANARY):
        assert form not in (done.stdout + done.stderr).encode()
        for path in desk.run_folder.rglob("*"):
            assert not path.is_file() or form not in path.read_bytes(), path
    kept = [place for place in find_text(node, CANARY.encode()) if not place.endswith("/server-0.1/out")]
    assert kept == [], "the server's own log on its node is as the server wrote it, 0600 below a 0700 directory"


def inspect(node: Node) -> list[str]:
    names = node.exec(["podman", "ps", "--all", "--quiet"], check=False).stdout.split()
    return node.exec(["podman", "inspect", *names], check=False).stdout.splitlines() if names else []


# --- 12: what is not what it was


def test_a_plan_changed_by_one_byte_is_refused(desk: Desk) -> None:
    plan = desk.plan(ONE)
    text = plan.read_text()
    plan.write_text(text.replace("per_run", "per_rum", 1))
    done = desk.atomrun("execute", str(plan))
    assert (done.returncode, "its seal does not fit" in done.stderr) == (2, True)


@in_full
def test_nothing_is_kept_under_another_image(desk: Desk) -> None:
    plan = desk.plan(QUICK)
    with desk.running(plan) as run:
        run.until(*PHASES["bench"], count=2)
        run.signal(signal.SIGINT)
        run.end()
    journal = desk.run_folder / "journal.jsonl"
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    for line in lines:
        if line["event"] == "node":
            line["known"]["image"] = "sha256:another"
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = desk.atomrun("resume", desk.run_folder.name)
    assert done.returncode == 0, done.stderr
    assert [cell["attempt"] for cell in desk.verdicts["cells"]] == [2, 2]
    assert any("has another image" in text for text in desk.verdicts["warnings"])


# --- 13: one bad node


@in_full
def test_one_bad_node_ends_all_of_them_cleanly(bench: Bench, cluster: Cluster) -> None:
    first, second = cluster.nodes
    plan = bench.plan("params.num_prompts=32", "roles.server.env.STANDIN_LOAD_S=300", config=DISTRIBUTED, nodes=2)
    only = ("--cell", "w1_512_512-conc16", "--only", "cells", "--lease", "20")
    with bench.executing(plan, *only) as (process, events):
        until(events, "ready")
        second.crash()
        try:
            assert [event["status"] for event in events if event["name"] == "teardown"][-1] == "failed"
            assert process.wait(60) == 3
            assert_clean(first, within=2)
        finally:
            second.boot()
            second.wait_ready()
    assert any(second.address in reason for reason in bench.verdicts["reasons"])
    assert (bench.run_folder / "logs/server-0.1.rank-0.out.log").stat().st_size
    host = connect(cluster, second)  # whoever comes next cleans what the crash left
    host.acquire("next", "tester@lab", 60)
    host.release(0)
    host.close()
