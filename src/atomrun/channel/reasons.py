"""Why a connection failed, from what ssh and the node said. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

__all__ = ["Failure", "explain", "hint_for"]


@frozen
class Failure:
    """`reason` and `hint` as in `HostError`; `passing`: worth another try at once."""

    reason: str
    message: str
    hint: str
    passing: bool = False


# What OpenSSH's client says (lower case), most telling first: part of the text, reason, passing.
_SSH: tuple[tuple[str, str, bool], ...] = (
    ("remote host identification has changed", "host_key", False),
    ("host key verification failed", "host_key", False),
    ("no matching host key type", "host_key", False),
    ("permission denied (", "auth", False),
    ("too many authentication failures", "auth", False),
    ("no supported authentication methods", "auth", False),
    ("unprotected private key file", "auth", False),
    ("timed out", "unreachable", False),
    ("kex_exchange_identification", "unreachable", True),
    ("ssh_exchange_identification", "unreachable", True),
    ("banner exchange", "unreachable", True),
    ("connection refused", "unreachable", False),
    ("no route to host", "unreachable", False),
    ("network is unreachable", "unreachable", False),
    ("could not resolve hostname", "unreachable", False),
    ("connection closed by", "unreachable", True),
    ("connection reset", "unreachable", True),
    ("broken pipe", "unreachable", True),
)

_HINTS: Mapping[str, str] = {
    "unreachable": "check the address and port, and that sshd runs there: ssh {node} true",
    "auth": "check the user and the key file, then try: ssh -o BatchMode=yes {node} true",
    "host_key": "log in once by hand to accept the key, or remove the stale one: ssh-keygen -R {node}",
    "shell": "start-up files must not exit or wait for input in a non-interactive login: ssh {node} true",
    "protocol": "try again; if it stays, the node's tools are unusual: ssh {node} flock -V",
    "timeout": "the node is overloaded or the link is slow: try again, or give more time",
    "tool": "install util-linux, coreutils, findutils and gawk or mawk on {node}",
    "disk": "free space on {node} below /var/tmp",
    "lease": "start the run again: it takes the node anew",
    "driven": "end that launcher (atomrun stop RUN, where it runs), or take the run over: --takeover",
    "quarantined": "look at that process on {node}: one that KILL does not end waits for a driver, or for a reboot",
    "refused": "",
}


def hint_for(reason: str, node: str) -> str:
    """The next thing to try."""
    return _HINTS.get(reason, "").format(node=node)


def explain(node: str, errors: str, noise: str = "") -> Failure:
    """Judge a connection that ended before the agent spoke: `errors` from ssh, `noise` from the login shell."""
    low = errors.lower()
    for part, reason, passing in _SSH:
        if part in low:
            line = next((line for line in errors.splitlines() if part in line.lower()), errors)
            return Failure(reason, line.strip(), hint_for(reason, node), passing)
    said = (noise or errors).strip()
    message = "the login shell ended before the agent spoke"
    if said:
        message += f"; it said: {said.splitlines()[-1][:200]}"
    return Failure("shell", message, hint_for("shell", node))
