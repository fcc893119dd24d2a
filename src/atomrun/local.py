"""A node that is this machine: the only module that starts local processes."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence

from .channel import AgentHost, Channel, ProcessPipes
from .host import Host, HostError

__all__ = ["connect_local"]

_CONNECT_S = 30.0


def connect_local(rank: int, name: str, root: str, env: Mapping[str, str] | None = None) -> Host:
    """The agent on this machine, with its state below `root` (absolute, made if missing, 0700).

    Several nodes may share a machine if each has its own `root`. `env` is the whole environment of the node's
    programs; None passes on the launcher's. Raises `HostError`.
    """

    def open_pipes(argv: Sequence[str], _timeout: float) -> ProcessPipes:
        errors = tempfile.TemporaryFile()  # noqa: SIM115, closed with the pipes
        try:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                bufsize=0,
                env=None if env is None else dict(env),
                start_new_session=True,  # Ctrl-C is ours to handle
            )
        except OSError as error:
            errors.close()
            raise HostError(name, "shell", f"cannot start a shell: {error}", "see that /bin/sh exists") from None
        return ProcessPipes(process, errors)

    channel = Channel(name, open_pipes, root)
    channel.connect(_CONNECT_S)
    return AgentHost(rank, name, channel)
