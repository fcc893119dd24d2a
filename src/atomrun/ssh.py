"""Nodes over OpenSSH: the only module that opens plumbum machines, and of them only what is safe.

plumbum starts `ssh`, detached from our terminal; the conversation is ours, over raw pipes. Its shell session, which
the constructor opens, is closed again before the first request; its timeouts, paths and environment are not used.
"""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import define, field
from plumbum import ProcessExecutionError, SshMachine

from atomcfg.plan import Node
from atomcfg.shell import quoted

from .channel import AgentHost, Channel, ProcessPipes, explain
from .host import Host, HostError

__all__ = ["connect_ssh"]

_CONNECT_S = 60.0
_OPTIONS = (
    "BatchMode=yes",
    "ConnectTimeout=10",
    "ServerAliveInterval=5",
    "ServerAliveCountMax=3",
    "LogLevel=ERROR",
    "ControlMaster=no",
    "ControlPath=none",
    "ClearAllForwardings=yes",
    "ForwardAgent=no",
    "ForwardX11=no",
    "PermitLocalCommand=no",
    "RemoteCommand=none",
    "RequestTTY=no",
)
_HOST_KEYS = {"strict": "yes", "accept-new": "accept-new"}


def connect_ssh(node: Node, *, options: Sequence[str] = (), root: str = "", timeout: float = _CONNECT_S) -> Host:
    """The agent on `node`, logged in as the plan says. Raises `HostError`.

    `options` are further ssh options (`Name=value`); they win over ours. The user's ssh configuration applies too.
    `root` is the agent's directory on the node, on a local disk; by default /var/tmp/atomrun-<uid>.
    """
    for text in (node.address, node.user):
        if text.startswith("-"):
            raise HostError(
                node.address, "unreachable", f"not an address or user: {text!r}", "mend the cluster file"
            )
    channel = Channel(node.address, _Logins(node, tuple(options)).open, root)
    channel.connect(timeout)
    return AgentHost(node.rank, node.address, channel)


@define
class _Logins:
    """How a node is reached; each `open` is one login that lasts."""

    node: Node
    options: tuple[str, ...]

    def open(self, argv: Sequence[str], timeout: float) -> ProcessPipes:
        """`argv` on the node, with raw pipes. What ssh and the node complain about goes to a file."""
        log = tempfile.NamedTemporaryFile(mode="a+b", prefix="atomrun-ssh-")  # noqa: SIM115, closed with the pipes
        try:
            machine = _Login(self._arguments(log.name)).machine(timeout)
        except _LoginError as error:
            said = Path(log.name).read_text("utf-8", "replace")
            log.close()
            failure = explain(self.node.address, said, str(error))
            raise HostError(self.node.address, failure.reason, failure.message, failure.hint) from None
        process = machine.popen(
            [quoted([word]) for word in argv],  # popen quotes nothing
            new_session=True,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
        )
        machine.close()  # its shell session only
        return ProcessPipes(process, log)

    def _arguments(self, log: str) -> dict[str, Any]:
        node = self.node
        wanted = [*_OPTIONS, f"StrictHostKeyChecking={_HOST_KEYS[node.host_key_policy]}"]
        if node.key_file:
            wanted.append("IdentitiesOnly=yes")
        # ssh takes the first value of an option that it is given.
        flags = [word for option in (*self.options, *wanted) for word in ("-o", option)]
        return {
            "host": node.address,
            "user": node.user or None,
            "port": node.port or None,
            "keyfile": node.key_file,
            "ssh_opts": ["-E", log, *flags],
            "new_session": True,
            "connect_timeout": None,
        }


class _LoginError(Exception):
    """There is no machine; the text is what the login shell had to say."""


class _Machine(SshMachine):
    """plumbum's machine, which remembers its shell session's process and leaves nothing of it behind."""

    def __init__(self, sessions: list[Any], **arguments: Any) -> None:
        self._sessions = sessions
        super().__init__(**arguments)

    def popen(self, *args: Any, **kwargs: Any) -> Any:
        process = super().popen(*args, **kwargs)
        if not self._sessions:
            self._sessions.append(process)
        return process

    def close(self) -> None:
        super().close()
        _end_all(self._sessions)


@define
class _Login:
    """Makes plumbum's machine within a deadline: its constructor waits for a shell without end."""

    arguments: dict[str, Any]
    _sessions: list[Any] = field(factory=list)
    _made: _Machine | None = None
    _error: Exception | None = None

    def machine(self, timeout: float) -> _Machine:
        """The machine, connected. Raises `_LoginError`."""
        thread = threading.Thread(target=self._make, daemon=True)
        thread.start()
        thread.join(timeout)
        late = thread.is_alive()
        if self._made is not None:
            return self._made
        _end_all(self._sessions)
        thread.join(5.0)
        if late:
            raise _LoginError(f"no shell within {timeout:.0f} s")
        if isinstance(self._error, ProcessExecutionError):
            raise _LoginError(f"{self._error.stdout}\n{self._error.stderr}".strip())
        raise _LoginError(str(self._error))

    def _make(self) -> None:
        try:
            self._made = _Machine(self._sessions, **self.arguments)
        except Exception as error:  # noqa: BLE001, plumbum raises many kinds; all mean that there is no shell
            self._error = error


def _end_all(processes: Sequence[Any]) -> None:
    """Kill, collect, close."""
    for process in processes:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(BrokenPipeError):  # plumbum's last words, still in the buffer
                stream.close()
