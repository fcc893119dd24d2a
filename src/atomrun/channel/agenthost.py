"""`Host` over a channel: what a stage asks becomes a request, what the agent answers a value."""

from __future__ import annotations

import hashlib
import re
import secrets
import time
from collections.abc import Mapping, Sequence

from atomcfg.shell import quoted
from atomrun.host import Completed, Exit, HostError, JobSpec, Lease, Refused, Stopped

from .reasons import hint_for
from .reconnect import Channel
from .wire import encoded

__all__ = ["AgentHost"]

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SLICE_S = 25.0  # of one waiting request: what a vanished launcher leaves on the node at most
_SLACK_S = 15.0  # for an answer to come, beyond what the node may take
_OUTAGE_S = 60.0  # tolerated by `wait` before a lease says more
_CHUNK = 1 << 20  # bytes of a file per request
_CLOCK_SAMPLES = 5


class AgentHost:
    """Implements `atomrun.host.Host`. Thread-safe."""

    def __init__(self, rank: int, name: str, channel: Channel) -> None:
        self._rank = rank
        self._name = name
        self._channel = channel
        self._outage_s = _OUTAGE_S

    @property
    def rank(self) -> int:
        return self._rank

    @property
    def name(self) -> str:
        return self._name

    def facts(self, timeout: float = 30.0) -> Mapping[str, str]:
        deadline = time.monotonic() + timeout
        answer = self._channel.ask("facts", timeout=timeout)
        offset, trip = min((self._clock(deadline) for _ in range(_CLOCK_SAMPLES)), key=lambda sample: sample[1])
        known = {key: value for key, value in answer.info if key != "tool"}
        return known | {
            "clock_offset_ms": f"{offset * 1000:.1f}",
            "rtt_ms": f"{trip * 1000:.1f}",
            "tools": " ".join(answer.all("tool")),
        }

    def acquire(
        self, run_id: str, who: str, lease_s: int, timeout: float = 30.0, *, takeover: bool = False
    ) -> Lease:
        if not who.isprintable():
            raise self._refusal(f"not a printable name: {who!r}")
        args = (self._plain(run_id), encoded(who), str(int(lease_s)), str(int(takeover)))
        answer = self._channel.ask("acquire", *args, timeout=timeout)
        self._outage_s = float(lease_s)
        self._channel.hold(run_id, self._outage_s)
        return Lease(answer.get("root"), answer.get("adopted") == "1")

    def run(self, argv: Sequence[str], *, timeout: float, stdin: bytes = b"", limit: int = 8 << 20) -> Completed:
        token = secrets.token_hex(8)
        words = self._command("call", argv, {})
        seconds = f"{timeout:.3f}"
        answer = self._channel.ask(
            "run", token, seconds, str(limit), words, payload=stdin, timeout=timeout + _SLACK_S
        )
        self._channel.tell("drop", token)
        state, code, _, _ = answer.get("exit").split()
        if state != "exited":
            text = f"killed after {timeout:g} s: {quoted(argv)[:200]}"
            raise HostError(self._name, "timeout", text, hint_for("timeout", self._name))
        return Completed(int(code), bytes(answer.out), bytes(answer.err))

    def secret(self, name: str, value: bytes, timeout: float = 30.0) -> None:
        if not self._channel.memory:
            raise HostError(
                self._name, "disk", "no memory file system at /dev/shm", "secrets are never put on a disk"
            )
        self._channel.ask("secret", self._plain(name), payload=value, timeout=timeout)

    def start(self, job: JobSpec, timeout: float = 30.0) -> bool:
        words = self._command(job.name, job.argv, job.env)
        ending = self._command(job.name, job.stop_argv, {}) if job.stop_argv else "-"
        pairs = ",".join(f"{self._env_name(env)}:{self._plain(secret)}" for env, secret in job.secret_input) or "-"
        args = (str(int(job.deadline_s)), words, str(int(job.stop_grace_s)), ending, pairs)
        spec = hashlib.sha256(" ".join(args).encode()).hexdigest()
        answer = self._channel.ask("start", self._plain(job.name), spec, *args, timeout=timeout)
        return answer.get("started") == "1"

    def wait(self, names: Sequence[str], timeout: float) -> Exit | None:
        words = [self._plain(name) for name in names]
        deadline = time.monotonic() + timeout
        while True:
            seconds = min(_SLICE_S, max(0.0, deadline - time.monotonic()))
            answer = self._channel.ask(
                "wait", f"{seconds:.3f}", *words, timeout=seconds + _SLACK_S + self._outage_s
            )
            if answer.get("ended"):
                return _exit(answer.get("ended"))
            if time.monotonic() >= deadline:
                return None

    def stop(self, name: str, grace: float, timeout: float = 60.0) -> Stopped:
        answer = self._channel.ask("stop", self._plain(name), str(round(grace)), timeout=timeout)
        return Stopped(name, _pids(answer.get("left").split()))

    def output(self, name: str, stream: str, offset: int = 0, limit: int = 1 << 20) -> bytes:
        if stream not in ("out", "err"):
            raise ValueError(f"no such stream: {stream!r}")
        answer = self._channel.ask(
            "output", self._plain(name), stream, str(offset), str(limit), timeout=_SLACK_S * 2
        )
        return bytes(answer.out)

    def put(self, path: str, data: bytes, mode: int = 0o600, timeout: float = 60.0) -> None:
        digest = hashlib.sha256(data).hexdigest()
        self._channel.ask("put", self._path(path), f"{mode:o}", digest, payload=data, timeout=timeout)

    def get(self, path: str, timeout: float = 60.0, limit: int = 64 << 20) -> bytes:
        deadline = time.monotonic() + timeout
        for _ in range(3):
            data, digest = self._read_file(self._path(path), deadline, limit)
            if hashlib.sha256(data).hexdigest() == digest:
                return data
        raise HostError(self._name, "protocol", f"{path} changes while it is read", "stop its writer first")

    def release(self, grace: float = 10.0, timeout: float = 120.0) -> tuple[Stopped, ...]:
        if not self._channel.run:
            return ()
        answer = self._channel.ask("release", str(round(grace)), timeout=timeout)
        lines = (line.split() for line in answer.all("stopped"))
        return tuple(Stopped(name, _pids(left)) for name, *left in lines)

    def close(self) -> None:
        self._channel.close()

    def _read_file(self, path: str, deadline: float, limit: int) -> tuple[bytes, str]:
        """A file's bytes as they arrived, and the SHA-256 that the node computed."""
        data = bytearray()
        size = 1
        digest = ""
        while len(data) < size:
            count = min(_CHUNK, size - len(data)) if data else _CHUNK
            left = max(0.1, deadline - time.monotonic())
            answer = self._channel.ask("get", path, str(len(data)), str(count), timeout=left)
            if not data:
                size, digest = int(answer.get("size")), answer.get("sha256").split()[0]
                if size > limit:
                    raise self._refusal(f"{path} has {size} bytes, more than the limit of {limit}")
            if not answer.out:
                break  # empty, or it shrank: the hash tells
            data += answer.out
        return bytes(data[:size]), digest

    def _clock(self, deadline: float) -> tuple[float, float]:
        """One sample: offset of the node's clock and round-trip time, in s."""
        sent, begun = time.time(), time.monotonic()
        answer = self._channel.ask("clock", timeout=max(0.1, deadline - begun))
        trip = time.monotonic() - begun
        seconds, _, fraction = answer.get("clock").partition(".")
        remote = int(seconds) + (int(fraction) / 1e9 if fraction.isdecimal() else 0.0)
        return remote - (sent + trip / 2), trip

    def _command(self, name: str, argv: Sequence[str], env: Mapping[str, str]) -> str:
        """The words that the agent starts, as it wants them: assignments first, then the program."""
        if not argv or not argv[0] or "=" in argv[0]:
            raise self._refusal(f"not a program: {argv[0] if argv else ''!r}")
        settings = {"ATOMRUN_JOB": f"{self._channel.run or '-'}/{name}"} | {
            self._env_name(key): env[key] for key in env
        }
        try:
            text = quoted(["set", "--", *(f"{key}={value}" for key, value in settings.items()), *argv])
        except ValueError as error:
            raise self._refusal(str(error)) from None
        return encoded(text + "\n")

    def _plain(self, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise self._refusal(f"not a plain name: {name!r}")
        return name

    def _env_name(self, name: str) -> str:
        if not _ENV_NAME.fullmatch(name):
            raise self._refusal(f"not a name of an environment variable: {name!r}")
        return name

    def _path(self, path: str) -> str:
        parts = path.removeprefix("/").split("/")
        if not re.fullmatch(r"[A-Za-z0-9._/-]+", path) or ".." in parts or "" in parts:
            raise self._refusal(f"not a plain path: {path!r}")
        return path

    def _refusal(self, message: str) -> Refused:
        return Refused(self._name, "refused", message)


def _exit(line: str) -> Exit:
    name, state, code, began, ended = line.split()
    return Exit(name, state, int(code) if state == "exited" else None, float(ended) - float(began))


def _pids(words: Sequence[str]) -> tuple[int, ...]:
    return tuple(int(word) for word in words)
