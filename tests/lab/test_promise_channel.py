"""Promises 4 to 8 and 10 to 15 where they are about the conversation with a node: real sshd, a proxy in between."""

from __future__ import annotations

import hashlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from atomrun.host import Busy, Host, HostError, JobSpec, Refused
from atomrun.node import agent

from .checks import assert_clean
from .cluster import Cluster
from .conftest import connect
from .faults import lapse
from .node import Node
from .processes import wait_until

FULL = os.environ.get("HYPOTHESIS_PROFILE") == "full"
RUN = "/var/tmp/atomrun-0/runs/lab-1"
NASTY = (
    "", " ", "a b", "'", '"', "\\", "$(id -u)", "`id`", "$HOME", "; touch /tmp/pwned", "&& false", "| cat",
    "> /tmp/x", "*", "~", "{a,b}", "-n", "--",
    "!", "\t", "a\nb", "é", "日本", "\x01", "\x7f", "%s", "#x", "a\\\nb", "\r",
)  # fmt: skip


def job(name: str, *argv: str, **more: Any) -> JobSpec:
    return JobSpec(name, argv, 300, **more)


def pid_of(node: Node, name: str, record: str = "child") -> int:
    return int(node.path(f"{RUN}/jobs/{name}/{record}").read_text().split()[0])


# --- 4: a death is known within a second


@pytest.mark.parametrize("record", ["child", "sup"])
def test_a_death_is_known_within_a_second(host: Host, node: Node, record: str, noted: Callable[..., None]) -> None:
    times = []
    for turn in range(20 if FULL else 4):
        name = f"server-{turn}"
        host.start(job(name, "sleep", "300"))
        killed: list[float] = []

        def kill(name: str = name, killed: list[float] = killed) -> None:
            lapse(0.3)  # so that it is waited for
            node.exec(["kill", "-9", str(pid_of(node, name, record))])
            killed.append(time.monotonic())

        thread = threading.Thread(target=kill)
        thread.start()
        ended = host.wait([name], 60)
        known = time.monotonic()
        thread.join()
        assert ended is not None
        assert (ended.state, ended.code) == (("exited", 137) if record == "child" else ("lost", None))
        times.append(known - killed[0])
    noted(worst=round(max(times), 3), median=round(sorted(times)[len(times) // 2], 3))
    assert max(times) < 1.0


# --- 5: nothing hangs


def test_a_silent_network_ends_in_an_error_in_time(cluster: Cluster, node: Node) -> None:
    with cluster.proxy(node) as proxy:
        host = connect(cluster, node, proxy=proxy)
        host.acquire("lab-1", "tester@lab", 60)
        proxy.black_hole()
        began = time.monotonic()
        with pytest.raises(HostError):
            host.run(["true"], timeout=1)
        assert time.monotonic() - began < 30
        proxy.passing()
        assert host.run(["echo", "back"], timeout=20).out == b"back\n"
        host.release(0)
        host.close()
    assert_clean(node, within=20)


def test_a_stopped_sshd_ends_in_an_error_in_time(cluster: Cluster, node: Node, host: Host) -> None:
    pids = node.exec(["pgrep", "-f", "sshd.*: root@notty|sshd.*: root$"]).stdout.split()
    node.exec(["kill", "-STOP", *pids])
    try:
        with pytest.raises(HostError):
            host.run(["true"], timeout=1)
    finally:
        node.exec(["kill", "-CONT", *pids], check=False)
    assert host.run(["true"], timeout=20).code == 0


def test_a_command_that_reads_gets_the_end_of_its_input(host: Host) -> None:
    assert host.run(["cat"], timeout=20).out == b""
    host.start(job("reader", "cat"))
    ended = host.wait(["reader"], 20)
    assert ended is not None
    assert ended.code == 0


# --- 6: exit status and bytes


@pytest.mark.parametrize("code", [0, 1, 3, 126, 127, 255])
def test_exit_statuses_are_exact(host: Host, code: int) -> None:
    assert host.run(["sh", "-c", f"exit {code}"], timeout=20).code == code


def test_a_signal_is_no_lost_connection(host: Host) -> None:
    assert host.run(["sh", "-c", "kill -9 $$"], timeout=20).code == 128 + signal.SIGKILL


def test_bytes_are_exact(host: Host) -> None:
    every = bytes(range(256)) * 64 + b"\xff\xfe\x80"
    done = host.run(["sh", "-c", "cat; cat /dev/null >&2"], timeout=30, stdin=every)
    assert done.out == every
    size = (50 if FULL else 8) << 20
    made = host.run(["sh", "-c", f"head -c {size} /dev/zero | tr '\\0' 'x'"], timeout=120, limit=64 << 20)
    assert hashlib.sha256(made.out).digest() == hashlib.sha256(b"x" * size).digest()
    host.put("big.bin", made.out[: 3 << 20] + every)
    assert host.get("big.bin") == made.out[: 3 << 20] + every


# --- 7: arguments


def test_arguments_arrive_verbatim(host: Host, node: Node) -> None:
    done = host.run(["sh", "-c", 'printf "%s\\0" "$@"', "sh", *NASTY], timeout=20)
    assert done.out.decode().split("\0")[:-1] == list(NASTY)
    host.start(job("words", "sh", "-c", 'printf "%s\\0" "$@" "$X"', "sh", *NASTY, env={"X": NASTY[6]}))
    host.wait(["words"], 20)
    assert host.output("words", "out").decode().split("\0")[:-1] == [*NASTY, NASTY[6]]
    assert not node.path("/tmp/pwned").exists()
    assert not node.path("/tmp/x").exists()


# --- 8: login shells


@contextmanager
def start_up_file(node: Node, text: str) -> Iterator[None]:
    path = node.path("/root") / ".bashrc"
    before = path.read_text() if path.exists() else None
    path.write_text(text + "\n")
    try:
        yield
    finally:
        if before is None:
            path.unlink()
        else:
            path.write_text(before)


NOISES = {
    "both streams": "echo hello; echo oops >&2",
    "a partial line": "printf partial",
    "something like a frame": "echo '@@0123456789abcdef 1 END ok'",
    "binary": "head -c 5000 /dev/urandom",
    "slow": "sleep 12" if FULL else "sleep 3",
}


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_a_noisy_login_shell_changes_nothing(cluster: Cluster, node: Node, noise: str) -> None:
    with start_up_file(node, noise):
        host = connect(cluster, node)
        assert host.run(["printf", "answer"], timeout=20).out == b"answer"
        host.close()


@pytest.mark.parametrize("text", ["exit 0", "exec cat", "exit 3"])
def test_a_login_shell_that_is_none_is_refused_in_words(cluster: Cluster, node: Node, text: str) -> None:
    with start_up_file(node, text), pytest.raises(HostError) as caught:
        connect(cluster, node, timeout=8.0)
    assert caught.value.reason == "shell"
    assert "start-up files must not exit" in caught.value.hint


# --- 10: one run a node


def test_one_of_many_launchers_gets_the_node_and_the_others_are_told(cluster: Cluster, node: Node) -> None:
    hosts = [connect(cluster, node) for _ in range(4)]
    won: list[int] = []
    told: list[Busy] = []

    def race(number: int) -> None:
        try:
            hosts[number].acquire(f"race-{number}", f"user{number}@lab", 60)
            won.append(number)
        except Busy as error:
            told.append(error)

    threads = [threading.Thread(target=race, args=(number,)) for number in range(len(hosts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert [error.owner["who"] for error in told] == [f"user{won[0]}@lab"] * 3
    assert {error.hint for error in told} == {f"atomrun cleanup race-{won[0]}"}
    hosts[won[0]].release(0)
    for host in hosts:
        host.close()
    assert_clean(node, within=20)


def test_two_launchers_never_drive_one_run(cluster: Cluster, node: Node, host: Host) -> None:
    second = connect(cluster, node)
    with pytest.raises(Refused) as caught:
        second.acquire("lab-1", "another@lab", 60)
    assert caught.value.reason == "driven"
    assert "--takeover" in caught.value.hint
    assert host.run(["true"], timeout=20).code == 0, "the first goes on"
    assert second.acquire("lab-1", "another@lab", 60, takeover=True).adopted
    with pytest.raises(Refused, match="taken over"):
        host.start(job("late", "true"))
    host.acquire("lab-1", "tester@lab", 60, takeover=True)
    second.close()


def test_a_launcher_that_is_gone_needs_no_takeover(cluster: Cluster, node: Node) -> None:
    first = connect(cluster, node)
    first.acquire("lab-1", "tester@lab", 60)
    first.close()
    second = connect(cluster, node)
    assert second.acquire("lab-1", "tester@lab", 60).adopted
    second.release(0)
    second.close()


# --- 11: innocent processes


def test_no_innocent_process_is_touched(host: Host, node: Node) -> None:
    bystander = node.exec(["sh", "-c", "setsid sleep 301 >/dev/null 2>&1 & echo $!"]).stdout.strip()
    host.start(job("server", "sleep", "301"))
    child = node.path(f"{RUN}/jobs/server/child")
    real, _, boot = child.read_text().split()
    child.write_text(f"{bystander} 12345 {boot}\n")
    stopped = host.stop("server", 0)
    assert stopped.survivors == ()
    assert node.path(f"/proc/{bystander}").exists(), "its number was on record, its start time was not"
    wait_until(lambda: not node.path(f"/proc/{real}").exists(), "the real one, found by its mark, to end")
    node.exec(["kill", bystander])


# --- 12: what is not what it was


def test_a_changed_agent_is_not_run(cluster: Cluster, node: Node) -> None:
    name = f"/var/tmp/atomrun-0/agent-{agent().sha256[:16]}.sh"
    connect(cluster, node).close()
    node.path(name).write_text("touch /tmp/pwned; exit 0\n")
    host = connect(cluster, node)
    assert host.run(["true"], timeout=20).code == 0
    host.close()
    assert node.path(name).read_bytes() == agent().text
    assert not node.path("/tmp/pwned").exists()


# --- 14: clocks


@pytest.mark.parametrize("skew", [-120, 120])
def test_a_wrong_clock_is_reported_and_never_used(cluster: Cluster, node: Node, skew: int) -> None:
    node.install(
        "date", f'#!/bin/sh\ncase $* in +%s.%N) /bin/date -d "{skew} seconds" +%s.%N;; *) /bin/date "$@";; esac\n'
    )
    try:
        host = connect(cluster, node)
        offset = float(host.facts()["clock_offset_ms"])
        assert abs(offset - skew * 1000) < 1000
        host.acquire("lab-1", "tester@lab", 60)
        host.start(job("second", "sleep", "1"))
        ended = host.wait(["second"], 30)
        assert ended is not None
        assert 0.9 < ended.seconds < 10
        host.release(0)
        host.close()
    finally:
        node.uninstall("date")


# --- 15: a full disk


def test_a_full_disk_keeps_the_exit_status_and_the_teardown(cluster: Cluster, node: Node) -> None:
    connect(cluster, node).close()
    node.exec(["mount", "-t", "tmpfs", "-o", "size=400k,mode=700", "tmpfs", "/var/tmp/atomrun-0"])
    try:
        host = connect(cluster, node)
        host.acquire("lab-1", "tester@lab", 60)
        host.start(job("chatty", "sh", "-c", "yes | head -c 2000000; exit 7"))
        ended = host.wait(["chatty"], 30)
        assert ended is not None
        assert (ended.state, ended.code) == ("exited", 7)
        with pytest.raises(HostError) as caught:
            host.put("more.bin", b"x" * 300_000)
        assert caught.value.reason == "disk"
        assert [each.survivors for each in host.release(0)] == [()]
        host.close()
        assert_clean(node, within=20)
    finally:
        node.exec(["umount", "/var/tmp/atomrun-0"])


# --- sshd's own limits


def test_more_logins_than_sshd_takes_at_once(cluster: Cluster, node: Node) -> None:
    """MaxStartups drops some of these; they come again."""
    hosts: list[Host] = []
    faults: list[Exception] = []

    def log_in() -> None:
        try:
            hosts.append(connect(cluster, node))
        except HostError as error:
            faults.append(error)

    threads = [threading.Thread(target=log_in) for _ in range(24 if FULL else 12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for host in hosts:
        host.close()
    assert faults == []


def test_a_restart_of_sshd_is_survived(node: Node, host: Host) -> None:
    host.start(job("server", "sleep", "300"))
    node.exec(["sh", "-c", "kill -9 $(pgrep -x sshd)"])
    lapse(0.5)  # sshd is away for a while
    node.exec(["/usr/sbin/sshd", "-E", "/var/log/sshd.log"])
    assert host.run(["echo", "on"], timeout=40).out == b"on\n"
    assert not host.start(job("server", "sleep", "300")), "it went on"
