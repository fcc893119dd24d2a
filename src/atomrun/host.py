"""The node protocol: what a stage may ask of a node, whatever carries it.

Every call is idempotent by name, has a deadline, and raises `HostError` when the *transport* failed. A program
that ran and failed is a result, never an exception. Output is bytes; nothing is decoded here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from attrs import field, frozen

__all__ = ["Busy", "Completed", "Exit", "Host", "HostError", "JobSpec", "Lease", "Refused", "Stopped"]


class HostError(Exception):
    """The node could not be asked. `reason` is a stable word: unreachable, auth, host_key, shell, protocol,
    timeout, tool, disk; `hint` names the next thing to try."""

    def __init__(self, node: str, reason: str, message: str, hint: str = "") -> None:
        super().__init__(f"{node}: {message}")
        self.node, self.reason, self.message, self.hint = node, reason, message, hint


class Refused(HostError):
    """The node answered and declined (a name outside the safe set, a file outside our directories, a
    second job of that name with another content)."""


class Busy(HostError):
    """Another run holds the node. `owner` is its record: run, who, since, boot, lease."""

    def __init__(self, node: str, owner: Mapping[str, str]) -> None:
        super().__init__(
            node,
            "busy",
            f"in use by run {owner.get('run', '?')} of {owner.get('who', '?')} since {owner.get('since', '?')}",
            f"atomrun cleanup {owner.get('run', 'RUN')}",
        )
        self.owner = dict(owner)


@frozen
class Completed:
    """A finished short command. `code` is the program's own exit status; 128+N for a signal."""

    code: int
    out: bytes = b""
    err: bytes = b""


@frozen
class JobSpec:
    """A long-lived process under the node's supervisor.

    `argv` runs on the node's host OS, in its own session and process group, with `ATOMRUN_JOB=<run>/<name>` and
    `env` added. Standard output and error go to `<jobs>/<name>/out` and `err`. `secret_input` names secrets
    (given before with `Host.secret`) that are written as `NAME=<base64>` lines to its standard input, then EOF.
    `stop_argv` runs before the group is signalled (it stops what lives in a container).
    """

    name: str
    argv: tuple[str, ...]
    deadline_s: int
    env: Mapping[str, str] = field(factory=dict)
    secret_input: tuple[tuple[str, str], ...] = ()  # (environment name, secret name)
    stop_argv: tuple[str, ...] = ()
    stop_grace_s: int = 10


@frozen
class Exit:
    """How a job ended. `state`: exited (with `code`), lost (the supervisor died), deadline (it was stopped)."""

    name: str
    state: str
    code: int | None
    seconds: float


@frozen
class Stopped:
    """Proof of a stop: what was still alive afterwards (empty when clean)."""

    name: str
    survivors: tuple[int, ...] = ()


@frozen
class Lease:
    """What `acquire` granted."""

    root: str  # the agent's private directory for this run on the node, 0700
    adopted: bool  # True: this run already held the node


class Host(Protocol):
    """One node. Paths and names are restricted to [A-Za-z0-9._/-]; other text travels only as argv or bytes."""

    @property
    def rank(self) -> int: ...

    @property
    def name(self) -> str: ...

    def facts(self, timeout: float = 30.0) -> Mapping[str, str]:
        """boot_id, hostname, uid, kernel, clock offset in ms, round-trip time in ms, tools present."""
        ...

    def acquire(
        self, run_id: str, who: str, lease_s: int, timeout: float = 30.0, *, takeover: bool = False
    ) -> Lease:
        """Take the node's lock for the run, cleaning a dead run first. Raises `Busy`.

        A run that already holds the node is adopted; from then on it listens to this launcher only. If another
        launcher drives it, that is `Refused` unless `takeover`.
        """
        ...

    def run(self, argv: Sequence[str], *, timeout: float, stdin: bytes = b"", limit: int = 8 << 20) -> Completed:
        """Run a short command; killed on the node at `timeout`. More than `limit` bytes of a stream are cut."""
        ...

    def secret(self, name: str, value: bytes, timeout: float = 30.0) -> None:
        """Keep a secret for jobs: 0600 on tmpfs, removed at teardown. Travels on standard input only."""
        ...

    def start(self, job: JobSpec, timeout: float = 30.0) -> bool:
        """Start a job; False if a job of this name and content was started before (it is then adopted)."""
        ...

    def wait(self, names: Sequence[str], timeout: float) -> Exit | None:
        """Block until the first of the jobs ends; None at `timeout`. Also returns for jobs that ended before."""
        ...

    def stop(self, name: str, grace: float, timeout: float = 60.0) -> Stopped:
        """TERM, wait, KILL to the recorded group, then to everything that carries the job's cookie."""
        ...

    def output(self, name: str, stream: str, offset: int = 0, limit: int = 1 << 20) -> bytes:
        """Bytes of a job's `out` or `err` from `offset`; a negative offset counts from the end."""
        ...

    def put(self, path: str, data: bytes, mode: int = 0o600, timeout: float = 60.0) -> None:
        """Write a file whole or not at all (temporary name, fsync, rename); parents are made."""
        ...

    def get(self, path: str, timeout: float = 60.0, limit: int = 64 << 20) -> bytes:
        """A file's bytes, verified by SHA-256. Raises `FileNotFoundError` with the path."""
        ...

    def release(self, grace: float = 10.0, timeout: float = 120.0) -> tuple[Stopped, ...]:
        """Teardown on the node: all jobs in reverse order, secrets, lock. Safe to repeat."""
        ...

    def close(self) -> None:
        """Close the channel. Jobs go on until their lease or deadline."""
        ...
