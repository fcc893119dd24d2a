"""Processes, sockets and readiness, with real processes of this machine."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from atomrun.node.probe import net, procs
from atomrun.node.probe.procs import Job
from atomrun.node.probe.ready import Target, climb
from atomrun.node.probe.weights import inspect

from .serving import Api, completion, serving

COOKIE = f"test-{os.getpid()}/server"
TREE = """if True:
    import signal, subprocess, sys, time
    deaf = "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(300)"
    argv = [sys.executable, "-c", deaf]
    children = [subprocess.Popen(argv, start_new_session=away, stdout=subprocess.PIPE) for away in (False, True)]
    for child in children: child.stdout.readline()
    print("up", flush=True)
    time.sleep(300)
"""


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[..., tuple[subprocess.Popen[bytes], Job]]]:
    """Start a program as the wrapper does: a group of its own, on record, with the cookie."""
    running: list[tuple[subprocess.Popen[bytes], Job]] = []

    def start(code: str, cookie: str = COOKIE) -> tuple[subprocess.Popen[bytes], Job]:
        env = {**os.environ, "ATOMRUN_JOB": cookie}
        process = subprocess.Popen(
            [sys.executable, "-c", code], env=env, start_new_session=True, stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        record = tmp_path / f"{process.pid}"
        born = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[19]
        record.write_text(f"{process.pid} {born}\n")
        running.append((process, Job(cookie, str(record))))
        return running[-1]

    yield start
    for process, job in running:
        procs.stop(job, 0.0)
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def test_a_stop_takes_the_group_and_who_left_it(started: Callable[..., Any]) -> None:
    process, job = started(TREE)
    pids = procs.members(job)
    assert len(pids) == 3
    assert process.pid in pids
    assert procs.stop(job, 0.2) == []
    process.wait()
    assert procs.members(job) == []
    assert all(
        not Path(f"/proc/{pid}/cmdline").exists() or not Path(f"/proc/{pid}/cmdline").read_bytes() for pid in pids
    )


def test_a_group_is_found_without_its_leader_and_without_a_cookie(started: Callable[..., Any]) -> None:
    process, job = started(TREE)
    children = [pid for pid in procs.members(job) if pid != process.pid]
    process.kill()
    process.wait()
    assert set(procs.members(job)) == set(children)
    in_group = procs.members(Job("another/cookie", job.record))
    assert len(in_group) == 1, "the escapee is known by its cookie only"


def test_a_number_that_another_process_has_now_is_not_touched(started: Callable[..., Any], tmp_path: Path) -> None:
    bystander, _ = started("print('up', flush=True); import time; time.sleep(300)", cookie="other/x")
    forged = tmp_path / "forged"
    forged.write_text(f"{bystander.pid} 1\n")
    job = Job("test/none", str(forged))
    assert procs.stop(job, 0.0) == []
    assert bystander.poll() is None
    assert not procs.is_ours(bystander.pid, job)
    assert not procs.is_ours(2**22 + 1, job)


def test_who_listens(started: Callable[..., Any]) -> None:
    listen = """if True:
        import socket, time
        listener = socket.create_server(("127.0.0.1", 0))
        print("up", listener.getsockname()[1], sep="\\n", flush=True)
        time.sleep(300)
    """
    process, job = started(listen)
    assert process.stdout is not None
    port = int(process.stdout.readline())
    held = procs.holders(port)
    assert list(held) == [process.pid]
    assert "create_server" in held[process.pid]
    assert procs.is_ours(process.pid, job)
    assert not procs.is_ours(process.pid, Job("other/x", "/nonexistent"))
    procs.stop(job, 5.0)
    process.wait()
    assert procs.listening(port) == set()
    assert procs.holders(port) == {}


def test_a_child_of_ours_is_ours(started: Callable[..., Any]) -> None:
    process, job = started(TREE)
    escaped = next(pid for pid in procs.members(job) if os.getpgid(pid) not in (process.pid,))
    assert procs.is_ours(escaped, Job("other/x", job.record)), "by its ancestor"


# --- readiness


def target(server: Any, seconds: float = 0.0, *, ours: bool = True) -> Target:
    return Target(server, "/health", lambda pid: ours, time.monotonic() + seconds)


def climbed(api: Api, *, ours: bool = True) -> dict[str, Any]:
    with serving(api) as server:
        return climb(target(server, ours=ours), lambda record: None)


def test_every_rung_holds() -> None:
    found = climbed(Api.good())
    assert (found["ready"], found["rung"], found["final"]) == (True, "", False)
    assert found["uptime"] > 0


@pytest.mark.parametrize(
    ("change", "rung", "final", "reason"),
    [
        ({"GET /health": (503, b"")}, "health", False, "/health answers 503"),
        (
            {"GET /health": (401, b"")},
            "health",
            True,
            "/health answers 401: the server is up but wants credentials",
        ),
        (
            {"GET /v1/models": (200, {"data": [{"id": "other"}]})},
            "model",
            True,
            "serves other, the plan wants org/model",
        ),
        ({"GET /v1/models": (200, {"data": []})}, "model", True, "serves nothing"),
        ({"GET /v1/models": (503, b"loading")}, "model", False, "/v1/models answers 503: loading"),
        (
            {"POST /v1/completions": (500, b"dead engine")},
            "completion",
            False,
            "a completion answers 500: dead engine",
        ),
    ],
)
def test_the_rung_that_does_not_hold_is_named(change: dict[str, Any], rung: str, final: bool, reason: str) -> None:
    found = climbed(Api.good(**change))
    assert (found["ready"], found["rung"], found["final"]) == (False, rung, final)
    assert reason in found["reason"]


def test_somebody_elses_server_is_refused() -> None:
    found = climbed(Api.good(), ours=False)
    assert (found["rung"], found["final"]) == ("listener", True)
    assert f"pid {os.getpid()} (" in found["reason"]


def test_a_closed_port_is_not_yet() -> None:
    with serving(Api.good()) as server:
        pass
    found = climb(target(server), lambda record: None)
    assert (found["rung"], found["final"], found["reason"]) == (
        "port",
        False,
        f"nothing listens on port {server.port}",
    )


def test_it_waits_with_growing_pauses_and_tells_each_change() -> None:
    states = iter([(503, b""), (503, b""), (200, b"")])
    told: list[dict[str, Any]] = []
    with serving(Api.good(**{"GET /health": lambda body: next(states)})) as server:
        assert climb(target(server, 60.0), told.append)["ready"]
    assert [record["reason"] for record in told] == ["/health answers 503"], "once, though it was so twice"


def test_a_completion_may_take_as_long_as_there_is_time() -> None:
    hang = threading.Event()

    def slow(body: Any) -> Any:
        hang.wait(30)
        return completion("late")

    with serving(Api.good(**{"POST /v1/completions": slow})) as server:
        found = climb(target(server, 0.3), lambda record: None)
        hang.set()
    assert (found["rung"], found["reason"]) == ("completion", "no answer in time")


# --- the way between nodes


def test_one_side_accepts_and_the_other_connects() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(net.accept("127.0.0.1", port, 2, 20.0)))
    thread.start()
    assert net.connect("127.0.0.1", port, 20.0) == {"fault": ""}
    assert net.connect("127.0.0.1", port, 20.0) == {"fault": ""}
    thread.join()
    assert found == [{"peers": ["127.0.0.1", "127.0.0.1"], "fault": ""}]


def test_a_way_that_is_closed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert "cannot listen on 127.0.0.1" in net.accept("127.0.0.1", port, 1, 0.0)["fault"]
    assert net.connect("127.0.0.1", port, 0.0)["fault"] == "Connection refused"
    assert net.accept("127.0.0.1", port, 1, 0.0) == {"peers": [], "fault": ""}


# --- weights


def cached(models: Path, **files: bytes | str) -> Path:
    snapshot = models / "models--org--model/snapshots/abc"
    snapshot.mkdir(parents=True)
    for name, data in files.items():
        path = snapshot / name.replace("__", ".").replace("_", "-")
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return snapshot


INDEX = '{"metadata": {"total_size": 8}, "weight_map": {"a": "m1.safetensors", "b": "m2.safetensors"}}'
INDEXED = {"config__json": "{}", "model__safetensors__index__json": INDEX}


@pytest.mark.parametrize(
    ("files", "fault"),
    [
        ({**INDEXED, "m1__safetensors": b"1234", "m2__safetensors": b"5678"}, ""),
        ({**INDEXED, "m1__safetensors": b"1234"}, "1 of 2 weight files are missing or empty: m2.safetensors"),
        ({**INDEXED, "m1__safetensors": b"1", "m2__safetensors": b"2"}, "have 2 bytes, their index promises 8"),
        ({**INDEXED, "model__safetensors__index__json": "{", "model__safetensors": b"1"}, ""),
        ({"config__json": "{}", "model__safetensors": b""}, "1 of 1 weight files are missing or empty"),
        ({"config__json": "{}"}, "has no weights"),
        ({"model__safetensors": b"1"}, "has no config.json"),
    ],
)
@pytest.mark.parametrize("named", [True, False])
def test_weights_are_proven_by_their_manifest(
    tmp_path: Path, files: dict[str, Any], fault: str, named: bool
) -> None:
    snapshot = cached(tmp_path, **files)
    if named:
        (tmp_path / "models--org--model/refs").mkdir()
        (tmp_path / "models--org--model/refs/main").write_text("abc\n")
    found = inspect(str(tmp_path), "org/model")
    assert found["path"] == str(snapshot)
    assert fault in found["fault"]
    assert bool(found["fault"]) is bool(fault)
    assert inspect("/nowhere", str(snapshot))["fault"] == found["fault"], "the same by its path"


def test_no_model(tmp_path: Path) -> None:
    assert inspect(str(tmp_path), "org/model")["fault"] == f"org/model is not in {tmp_path}"
    assert inspect(str(tmp_path), "/no/such")["fault"] == f"/no/such is not in {tmp_path}"
