"""The SSH transport against an `ssh` of our own, which runs the remote command on this machine."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import evolve, frozen
from plumbum import local

from atomcfg.plan import Node
from atomrun.host import Completed, Host, HostError
from atomrun.ssh import connect_ssh

from .nodes import wait_until

NODE = Node(1, "gpu-a", "10.0.0.1", "bench", 2222, "/keys/id", "strict")

# Options as plumbum passes them, the host, then words that a remote shell would read.
SSH = """#!/bin/sh
echo "$@" >>{folder}/calls
echo $$ >>{folder}/pids
while :; do
    case $1 in
        -E) log=$2; shift 2 ;;
        -p | -i | -o) shift 2 ;;
        -*) shift ;;
        *) break ;;
    esac
done
shift
{before}
exec sh -c "$*"
"""


@frozen
class Remote:
    """A folder with our `ssh`, first on PATH."""

    folder: Path

    def answers(self, before: str = "") -> None:
        program = self.folder / "ssh"
        program.write_text(SSH.format(folder=self.folder, before=before))
        program.chmod(0o755)

    def connect(self, node: Node = NODE, timeout: float = 20.0, options: tuple[str, ...] = ()) -> Host:
        return connect_ssh(node, options=options, root=str(self.folder / "root"), timeout=timeout)

    @property
    def calls(self) -> list[list[str]]:
        """The words of each call up to the host."""
        lines = [line.split() for line in (self.folder / "calls").read_text().splitlines()]
        return [line[: 1 + max(line.index(word) for word in line if word.endswith("gpu-a"))] for line in lines]

    def running(self) -> list[int]:
        pids = map(int, (self.folder / "pids").read_text().split())
        return [pid for pid in pids if Path(f"/proc/{pid}").exists()]


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[Remote]:
    made = Remote(tmp_path)
    made.answers()
    with local.env(PATH=f"{tmp_path}:{os.environ['PATH']}"):
        yield made
    wait_until(lambda: not made.running())


def test_a_conversation_over_ssh(remote: Remote) -> None:
    host = remote.connect()
    assert (host.rank, host.name) == (1, "gpu-a")
    assert host.run(("printf", "%s|", "a b", "$(id)", "'"), timeout=20) == Completed(0, b"a b|$(id)|'|")
    host.close()


def test_the_login_is_as_the_plan_says(remote: Remote) -> None:
    remote.connect(options=("ProxyJump=gate",)).close()
    remote.connect(evolve(NODE, user="", port=0, key_file=None, host_key_policy="accept-new")).close()
    assert len(remote.calls) == 4  # plumbum's session, and ours
    for call in remote.calls[:2]:
        assert call[:4] == ["-p", "2222", "-i", "/keys/id"]
        assert call[-1] == "bench@gpu-a"
        assert call.index("ProxyJump=gate") < call.index("BatchMode=yes")
        assert {"StrictHostKeyChecking=yes", "IdentitiesOnly=yes", "ControlPath=none"} < set(call)
        assert {"ConnectTimeout=10", "ServerAliveInterval=5", "ServerAliveCountMax=3", "LogLevel=ERROR"} < set(call)
    for call in remote.calls[2:]:
        assert call[-1] == "gpu-a"
        assert "StrictHostKeyChecking=accept-new" in call
        assert not {"-p", "-i", "IdentitiesOnly=yes"} & set(call)


def test_only_our_own_connection_stays(remote: Remote) -> None:
    host = remote.connect()
    assert len(remote.running()) == 1
    host.close()


def test_noise_and_a_slow_partial_line_are_ignored(remote: Remote) -> None:
    remote.answers("echo Welcome; echo noise >&2; printf partial")
    host = remote.connect()
    assert host.run(("echo", "x"), timeout=20) == Completed(0, b"x\n")
    host.close()


@pytest.mark.parametrize(
    ("before", "reason", "message"),
    [
        ("echo 'Permission denied (publickey).' >>$log; exit 255", "auth", "Permission denied (publickey)."),
        ("echo 'Host key verification failed.' >>$log; exit 255", "host_key", "Host key verification failed."),
        ("exit 255", "shell", "the login shell ended"),
        ("echo 'Account closed' >&2; exit 0", "shell", "the login shell ended"),
    ],
)
def test_a_failed_login_says_why(remote: Remote, before: str, reason: str, message: str) -> None:
    remote.answers(before)
    with pytest.raises(HostError) as caught:
        remote.connect()
    assert caught.value.reason == reason
    assert message in caught.value.message


def test_a_connection_that_fails_after_the_login_says_why(remote: Remote) -> None:
    remote.answers(
        f"[ -e {remote.folder}/once ] && {{ echo 'Connection refused' >>$log; exit 255; }}; : >{remote.folder}/once"
    )
    with pytest.raises(HostError, match="Connection refused") as caught:
        remote.connect()
    assert caught.value.reason == "unreachable"


def test_a_login_that_hangs_ends_at_the_deadline(remote: Remote) -> None:
    remote.answers("exec sleep 600")
    begun = time.monotonic()
    with pytest.raises(HostError, match="no shell within") as caught:
        remote.connect(timeout=0.5)
    assert caught.value.reason == "shell"
    assert time.monotonic() - begun < 60


@pytest.mark.parametrize("node", [evolve(NODE, address="-oProxyCommand=x"), evolve(NODE, user="-x")])
def test_options_in_the_place_of_names_are_refused(node: Node) -> None:
    with pytest.raises(HostError, match="not an address or user"):
        connect_ssh(node)
