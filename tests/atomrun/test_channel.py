"""The conversation with a real agent: connecting, failures, lost connections."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from atomrun.host import Completed, HostError
from atomrun.local import connect_local
from atomrun.node import BOOTSTRAP, agent

from .nodes import RUN, Node, job, script, wait_until

# --- connecting


@pytest.mark.parametrize(
    "before",
    [
        "echo Welcome; echo noise >&2",
        "printf 'no newline'",
        "printf '@@fake 0 END ok\\n\\377\\376'",
        "head -c 300000 /dev/zero | tr '\\0' x",
    ],
)
def test_login_noise_is_ignored(node: Node, before: str) -> None:
    node.before = before
    assert node.connect().run(("echo", "hello"), timeout=20) == Completed(0, b"hello\n")


def failure_of(node: Node, timeout: float = 20.0) -> HostError:
    with pytest.raises(HostError) as caught:
        node.connect(timeout)
    return caught.value


def test_a_start_up_file_that_exits_is_told(node: Node) -> None:
    node.before = "echo This node is closed; exit 0"
    error = failure_of(node)
    assert (error.reason, error.node) == ("shell", "node")
    assert "it said: This node is closed" in error.message
    assert "start-up files" in error.hint


def test_a_start_up_file_that_hangs_is_told(node: Node) -> None:
    node.before = "read nothing; exec sleep 600"
    error = failure_of(node, timeout=0.3)
    assert error.reason == "shell"
    assert "no answer from the node's shell" in error.message


def test_missing_tools_are_told(node: Node) -> None:
    for tool in ("cat", "chmod", "cut", "dd", "id", "mkdir", "mv", "rm", "sh", "sha256sum", "base64", "stat"):
        found = Path("/usr/bin") / tool
        (node.programs / tool).symlink_to(found if found.exists() else Path("/bin") / tool)
    node.before = f"PATH={node.programs}"
    error = failure_of(node)
    assert error.reason == "tool"
    assert "missing on the node: flock setsid mktemp awk grep find" in error.message
    assert "util-linux" in error.hint


def test_a_network_file_system_is_refused(node: Node) -> None:
    node.program("stat", "echo nfs")
    error = failure_of(node)
    assert error.reason == "disk"
    assert "is on a network file system" in error.message


@pytest.mark.parametrize("kind", ["file", "link"])
def test_a_root_that_is_not_ours_is_refused(node: Node, tmp_path: Path, kind: str) -> None:
    if kind == "file":
        node.root.write_text("")
    else:
        node.root.symlink_to(tmp_path)
    assert failure_of(node).reason == "disk"
    node.root.unlink()
    node.connect()


def test_a_changed_agent_is_replaced(node: Node) -> None:
    node.connect()
    (installed,) = node.root.glob("agent-*.sh")
    assert installed.name == f"agent-{agent().sha256[:16]}.sh"
    installed.write_text("echo something else")
    node.connect()
    assert installed.read_bytes() == agent().text


def test_the_bootstrap_passes_through_any_login_shell() -> None:
    assert not set("'!\\\n") & set(BOOTSTRAP)


def test_a_passing_failure_is_tried_again(node: Node) -> None:
    closed = "kex_exchange_identification: Connection closed by remote host"
    node.refusals = [HostError("node", "unreachable", closed), HostError("node", "unreachable", closed)]
    assert node.connect().run(("true",), timeout=20) == Completed(0)


def test_a_lasting_failure_is_raised_at_once(node: Node) -> None:
    refused = HostError("node", "auth", "Permission denied (publickey).")
    node.refusals = [refused, refused]
    assert failure_of(node) is refused
    assert node.refusals == [refused]
    node.refusals = []
    node.connect()


# --- lost connections


def test_a_lost_connection_is_made_again(node: Node) -> None:
    host = node.holder()
    for _ in range(3):
        node.pipes[-1].kill()
        assert host.run(("echo", "still here"), timeout=20) == Completed(0, b"still here\n")
    assert len(node.pipes) == 4


def test_a_command_in_flight_runs_once_and_its_result_arrives(node: Node, tmp_path: Path) -> None:
    host = node.holder()
    log, go = tmp_path / "log", tmp_path / "go"
    text = f"echo started >>{log}; while [ ! -e {go} ]; do sleep 0.02; done; cat; exit 3"
    results: list[Completed] = []
    thread = threading.Thread(target=lambda: results.append(host.run(script(text), stdin=b"in", timeout=30)))
    thread.start()
    wait_until(log.exists)
    node.pipes[-1].kill()
    wait_until(lambda: len(node.pipes) == 2)
    go.touch()
    thread.join()
    assert results == [Completed(3, b"in")]
    assert log.read_text() == "started\n"


def test_a_wait_goes_on_over_a_lost_connection(node: Node) -> None:
    host = node.holder()
    host.start(job("j", *script("while [ ! -e go ]; do sleep 0.02; done; exit 4")))
    codes: list[int | None] = []
    thread = threading.Thread(target=lambda: codes.append(getattr(host.wait(["j"], 60), "code", None)))
    thread.start()
    wait_until(lambda: any("ended j" in line for line in node.processes().values()))
    node.pipes[-1].kill()
    wait_until(lambda: len(node.pipes) == 2)
    host.put("jobs/j/go", b"")
    thread.join()
    assert codes == [4]


def test_a_node_that_stays_away_is_unreachable(node: Node) -> None:
    host = node.holder()
    node.refusals = [HostError("node", "unreachable", "No route to host", "look at the switch")] * 50
    node.pipes[-1].kill()
    with pytest.raises(HostError, match="No route to host") as caught:
        host.facts(timeout=1.0)
    assert (caught.value.reason, caught.value.hint) == ("unreachable", "look at the switch")
    node.refusals = []


def test_a_silent_node_times_out(node: Node) -> None:
    host = node.connect()
    serving = [pid for pid, line in node.processes().items() if " serve " in line]
    for pid in serving:
        os.kill(pid, signal.SIGSTOP)
    with pytest.raises(HostError, match="no answer to 'facts' within 0 s") as caught:
        host.facts(timeout=0.3)
    assert caught.value.reason == "timeout"
    for pid in serving:
        os.kill(pid, signal.SIGCONT)
    assert host.facts()["hostname"]


def test_a_channel_can_be_closed_while_its_node_is_away(node: Node) -> None:
    host = node.connect()
    node.refusals = [HostError("node", "unreachable", "No route to host")] * 50
    node.pipes[-1].kill()
    with pytest.raises(HostError, match="No route to host"):
        host.facts(timeout=0.5)
    host.close()
    with pytest.raises(HostError, match="the channel was closed"):
        host.facts()
    node.refusals = []


def test_damaged_data_is_told(node: Node) -> None:
    node.before = '"$@" | sed -u "s/ O .*/ O @/"; exit'
    with pytest.raises(HostError, match="damaged data") as caught:
        node.connect().run(("echo", "x"), timeout=20)
    assert caught.value.reason == "protocol"


def test_a_file_that_changes_while_it_is_read_is_told(node: Node, tmp_path: Path) -> None:
    honest = 'printf %s "${text%.}" | /usr/bin/sha256sum'
    node.program("sha256sum", f"text=$(cat; echo .); case $text in changing*) echo 0000 ;; *) {honest} ;; esac")
    (tmp_path / "x").write_text("changing")
    (tmp_path / "y").write_text("settled")
    host = node.connect()
    with pytest.raises(HostError, match="x changes while it is read") as caught:
        host.get(f"{tmp_path}/x")
    assert caught.value.reason == "protocol"
    assert host.get(f"{tmp_path}/y") == b"settled"


def test_secrets_need_memory(node: Node) -> None:
    node.program("stat", "echo ext2/ext3")
    host = node.holder()
    with pytest.raises(HostError, match="no memory file system"):
        host.secret("token", b"x")
    assert host.run(("cat",), stdin=b"x", timeout=20) == Completed(0, b"x")


def test_many_requests_at_once_do_not_mix(node: Node) -> None:
    host = node.holder()
    results: dict[int, Completed] = {}

    def ask(number: int) -> None:
        results[number] = host.run(("head", "-c", str(200_000 + number), "/dev/zero"), timeout=60)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {number: done.out for number, done in results.items()} == {n: b"\0" * (200_000 + n) for n in range(8)}


def test_a_closed_channel_refuses(node: Node) -> None:
    host = node.connect()
    host.close()
    host.close()
    with pytest.raises(HostError, match="the channel was closed"):
        host.run(("true",), timeout=20)


def test_an_unknown_request_is_answered(node: Node) -> None:
    channel = node.channel()
    channel.connect(20)
    with pytest.raises(HostError, match="unknown request: op_nonsense") as caught:
        channel.ask("nonsense", timeout=20)
    assert caught.value.reason == "protocol"
    channel.close()


# --- the local transport


def test_connect_local(tmp_path: Path) -> None:
    host = connect_local(3, "here", str(tmp_path / "root"), {"PATH": os.environ["PATH"], "ONLY": "this"})
    assert (host.rank, host.name) == (3, "here")
    names = host.run(("env",), timeout=20).out.decode().split()
    assert {line.partition("=")[0] for line in names} <= {
        "PATH",
        "ONLY",
        "PWD",
        "ATOMRUN_JOB",
        "ATOMRUN_DIR",
        "_",
        "SHLVL",
        "OLDPWD",
    }
    assert host.acquire(RUN, "tester", 60).root == str(tmp_path / "root" / "runs" / RUN)
    host.release()
    host.close()


def test_connect_local_without_a_shell(tmp_path: Path) -> None:
    with pytest.raises(HostError, match="cannot start a shell") as caught:
        connect_local(0, "here", str(tmp_path / "root"), {"X": "x" * 3_000_000})
    assert caught.value.reason == "shell"


def test_connect_local_passes_on_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FROM_LAUNCHER", "yes")
    host = connect_local(0, "here", str(tmp_path / "root"))
    assert host.run(script("echo $FROM_LAUNCHER"), timeout=20).out == b"yes\n"
    host.close()
