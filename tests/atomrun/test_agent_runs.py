"""The agent itself: who holds a node, what ends with a run, and where secrets are."""

from __future__ import annotations

import base64
import fcntl
import os
import signal
import threading
from functools import partial
from pathlib import Path

import pytest

from atomrun.channel import AgentHost
from atomrun.host import Busy, HostError, JobSpec, Refused, Stopped

from .nodes import RUN, Node, alive, job, script, wait_until

TOKEN = b"hf_\x00canary\n!"


def released(path: Path) -> None:
    """Block until nobody holds a lock."""
    with path.open() as file:
        fcntl.flock(file, fcntl.LOCK_SH)


def lock_of(node: Node) -> Path:
    return node.root / "locks" / "node.lock"


# --- the lock


def test_acquire_grants_a_private_directory(node: Node) -> None:
    lease = node.connect().acquire(RUN, "tester", 600)
    assert (lease.root, lease.adopted) == (str(node.root / "runs" / RUN), False)
    assert Path(lease.root).stat().st_mode & 0o777 == 0o700
    assert node.root.stat().st_mode & 0o777 == 0o700


def test_a_held_node_is_busy_and_says_who(node: Node) -> None:
    node.connect().acquire(RUN, "tester of things", 600)
    with pytest.raises(Busy, match=f"in use by run {RUN} of tester of things since 20") as caught:
        node.connect().acquire("run-2", "other", 600)
    assert caught.value.hint == f"atomrun cleanup {RUN}"
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert caught.value.owner | {"since": ""} == {
        "run": RUN,
        "who": "tester of things",
        "since": "",
        "boot": boot,
        "lease": "600",
    }


def test_one_of_many_gets_the_node(node: Node) -> None:
    hosts = [node.connect() for _ in range(6)]
    won: list[str] = []
    busy: list[str] = []

    def race(number: int, host: AgentHost) -> None:
        try:
            host.acquire(f"run-{number}", "racer", 600)
            won.append(f"run-{number}")
        except Busy as error:
            busy.append(error.owner["run"])

    threads = [threading.Thread(target=race, args=pair) for pair in enumerate(hosts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert busy == won * 5


def test_the_same_run_is_adopted_with_its_jobs(node: Node, host: AgentHost) -> None:
    host.start(job("j", "sleep", "600"))
    host.close()
    again = node.connect()
    assert again.acquire(RUN, "tester", 600).adopted is True
    assert again.start(job("j", "sleep", "600")) is False
    assert again.wait(["j"], 0) is None


def test_a_second_launcher_of_the_run_fences_the_first(node: Node, host: AgentHost) -> None:
    second = node.holder()
    for ask in (lambda: host.start(job("j", "true")), lambda: host.run(("true",), timeout=20), host.release):
        with pytest.raises(Refused, match="another launcher has taken over this run"):
            ask()
    assert second.start(job("j", "true")) is True


def test_a_run_whose_keeper_died_is_adopted_by_itself(node: Node, host: AgentHost) -> None:
    host.start(job("j", "sleep", "600"))
    kill_keeper(node)
    again = node.connect()
    assert again.acquire(RUN, "tester", 600).adopted is True
    assert again.wait(["j"], 0) is None
    with pytest.raises(Busy):
        node.connect().acquire("run-2", "other", 600)


def test_a_run_whose_keeper_died_is_torn_down_by_the_next(node: Node, host: AgentHost) -> None:
    host.secret("token", TOKEN)
    host.start(job("j", "sleep", "600"))
    pid, secrets = node.pid_of("j"), secrets_of(node)
    kill_keeper(node)
    assert node.connect().acquire("run-2", "other", 600).adopted is False
    assert not alive(pid)
    assert not secrets.exists()
    with pytest.raises(Refused) as caught:
        host.start(job("k", "true"))
    assert caught.value.reason == "lease"


def test_waiting_notices_a_dead_keeper(node: Node, host: AgentHost) -> None:
    host.start(job("j", "sleep", "600"))
    kill_keeper(node)
    with pytest.raises(Refused, match="keeper is gone") as caught:
        host.wait(["j"], 600)
    assert caught.value.reason == "lease"


def test_what_needs_a_run_is_refused_without(node: Node) -> None:
    host = node.connect()
    asks = (lambda: host.start(job("j", "true")), lambda: host.put("x", b""), lambda: host.secret("x", b""))
    for ask in asks:
        with pytest.raises(Refused, match="no run holds the node"):
            ask()
    assert host.release() == ()


@pytest.mark.parametrize("run", ["", "a b", "../x", "-x", ".x"])
def test_run_ids_are_plain(node: Node, run: str) -> None:
    with pytest.raises(Refused, match="not a plain name"):
        node.holder(run)


def test_who_is_printable(node: Node) -> None:
    with pytest.raises(Refused, match="not a printable name"):
        node.connect().acquire(RUN, "a\nrun=x", 600)


# --- the end of a run


def test_release_stops_jobs_last_started_first(node: Node, host: AgentHost) -> None:
    for name in ("server", "client"):
        host.start(
            job(name, *script(f"trap 'echo {name} >>../order; exit' TERM; echo up; while :; do sleep 0.05; done"))
        )
        wait_until(partial(host.output, name, "out"))
    assert host.release(grace=20) == (Stopped("client"), Stopped("server"))
    assert (node.root / "runs" / RUN / "jobs" / "order").read_text().split() == ["client", "server"]
    released(lock_of(node))
    assert not (node.root / "locks" / "node.owner").exists()


def test_release_can_be_repeated_and_results_stay(host: AgentHost) -> None:
    host.start(job("j", "echo", "result"))
    host.wait(["j"], 20)
    host.put("kept", b"x")
    assert host.release() == (Stopped("j"),)
    assert host.release() == (Stopped("j"),)
    assert host.output("j", "out") == b"result\n"
    assert host.get("kept") == b"x"
    with pytest.raises(Refused, match="torn down"):
        host.start(job("k", "true"))


def test_a_released_node_can_be_taken_again_even_by_the_same_run(node: Node, host: AgentHost) -> None:
    host.start(job("j", "echo", "first"))
    host.release()
    assert host.acquire(RUN, "tester", 600).adopted is False
    assert host.start(job("j", "echo", "second")) is True
    assert node.connect().acquire(RUN, "tester", 600, takeover=True).adopted is True


def test_release_ends_a_wait(host: AgentHost) -> None:
    host.start(job("j", "sleep", "600"))
    ends = []
    thread = threading.Thread(target=lambda: ends.append(host.wait(["j"], 600)))
    thread.start()
    host.release()
    thread.join()
    assert [(end.state, end.code) for end in ends if end] == [("exited", 143)]


def test_the_lease_ends_what_nobody_asks_for(node: Node) -> None:
    host = node.holder(lease_s=1)
    host.secret("token", TOKEN)
    host.start(job("j", "sleep", "600", stop_grace_s=1))
    pid, secrets = node.pid_of("j"), secrets_of(node)
    host.close()
    released(lock_of(node))
    assert not alive(pid)
    assert not secrets.exists()
    assert (node.root / "runs" / RUN / "lease_expired").exists()
    assert node.connect().acquire("run-2", "other", 600).adopted is False


def test_a_lasting_connection_keeps_the_lease(node: Node) -> None:
    host = node.holder(lease_s=2)
    host.start(job("j", "sleep", "600"))
    assert host.wait(["j"], 4) is None


def test_closing_leaves_jobs_and_no_waiter(node: Node, host: AgentHost) -> None:
    host.start(job("j", "sleep", "600"))

    def wait() -> None:
        with pytest.raises(HostError, match="the channel was closed"):
            host.wait(["j"], 600)

    waiting = threading.Thread(target=wait)
    waiting.start()
    wait_until(lambda: any("ended j" in line for line in node.processes().values()))
    host.close()
    waiting.join()
    wait_until(lambda: not any(" serve " in line or "ended j" in line for line in node.processes().values()))
    assert alive(node.pid_of("j"))


# --- secrets


def secrets_of(node: Node) -> Path:
    return Path((node.root / "runs" / RUN / "secrets").read_text().strip())


def test_secrets_reach_a_job_on_its_standard_input_only(node: Node, host: AgentHost) -> None:
    host.secret("token", b"other")
    host.secret("token", TOKEN)
    host.start(JobSpec("j", script("cat; sleep 600"), 60, secret_input=(("HF_TOKEN", "token"), ("HF2", "token"))))
    wait_until(lambda: host.output("j", "out"))
    line = base64.b64encode(TOKEN)
    assert host.output("j", "out") == b"HF_TOKEN=" + line + b"\nHF2=" + line + b"\n"
    for pid in node.processes():
        for name in ("cmdline", "environ"):
            text = Path(f"/proc/{pid}/{name}").read_bytes()
            assert b"canary" not in text
            assert line not in text


def test_secrets_are_private_in_memory_and_gone_after_release(node: Node, host: AgentHost) -> None:
    host.secret("token", TOKEN)
    folder = secrets_of(node)
    assert folder.is_relative_to("/dev/shm")
    host.start(JobSpec("j", ("cat",), 60, secret_input=(("T", "token"),)))
    host.wait(["j"], 20)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (folder, *folder.iterdir())}
    assert modes == {folder.name: 0o700, "token": 0o600, ".atomrun": 0o600}
    kept = [path for path in node.root.rglob("*") if path.is_file() and b"canary" in path.read_bytes()]
    assert kept == []
    host.release()
    assert not folder.exists()


def test_an_unknown_secret_is_refused(host: AgentHost) -> None:
    spec = JobSpec("j", ("cat",), 60, secret_input=(("T", "token"),))
    with pytest.raises(Refused, match="no such secret was given: token"):
        host.start(spec)
    host.secret("token", b"")
    assert host.start(spec) is True


def test_secrets_and_their_names_are_checked(host: AgentHost) -> None:
    with pytest.raises(Refused, match="not a plain name"):
        host.secret("../x", b"")
    with pytest.raises(Refused, match="not a name of an environment variable"):
        host.start(JobSpec("j", ("cat",), 60, secret_input=(("A B", "x"),)))


def test_what_a_killed_agent_held_in_memory_is_swept(node: Node) -> None:
    node.connect()
    serving = sorted(pid for pid, line in node.processes().items() if " serve " in line)
    payloads = Path(f"/proc/{serving[0]}/fd/9").readlink().parent
    assert payloads.is_relative_to("/dev/shm")
    for pid in serving:
        os.kill(pid, signal.SIGKILL)
    (payloads / "1").write_bytes(TOKEN)
    node.connect()
    wait_until(lambda: not payloads.exists())


# --- a node that cannot be cleaned


def test_a_node_with_an_unkillable_process_is_refused(node: Node, host: AgentHost) -> None:
    host.start(job("j", "sleep", "600"))
    record = (node.root / "runs" / RUN / "jobs" / "j" / "child").read_text()
    quarantine = node.root / "locks" / "quarantine"
    quarantine.write_text(f"run-0 {record}")
    with pytest.raises(Refused, match=r"process \d+ of run run-0 could not be killed"):
        node.connect().acquire("run-2", "other", 600)
    host.stop("j", grace=0)
    host.release()
    node.holder("run-2")
    assert not quarantine.exists()


def kill_keeper(node: Node) -> None:
    os.kill(int((node.root / "runs" / RUN / "keeper").read_text().split()[0]), signal.SIGKILL)
    released(lock_of(node))
