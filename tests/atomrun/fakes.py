"""A node in memory: implements `atomrun.host.Host`, records every call, answers what a test scripted.

    host = FakeHost()
    host.on("docker", "inspect", then=Completed(0, b"[]"))       # by argv prefix; the latest rule wins
    host.on("docker", "ps", then=HostError("n0", "timeout", "no answer"))
    host.on("cat", then=lambda argv, stdin: Completed(0, stdin))
    host.end("server", code=1, err=b"out of memory")             # a running job ends
    host.on_start("client", code=0, out=b"done", files={"/logs/r/out.json": b"{}"})  # ends as soon as it starts

Nothing sleeps: `wait` without an ended job returns None at once and adds its timeout to `waited`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import define, field

from atomrun.host import Busy, Completed, Exit, JobSpec, Lease, Refused, Stopped

FACTS = {
    "boot_id": "00000000-0000-0000-0000-000000000001",
    "hostname": "node0",
    "uid": "1000",
    "user": "bench",
    "kernel": "Linux 6.8.0 x86_64",
    "clock_offset_ms": "0.4",
    "rtt_ms": "0.9",
    "tools": "docker podman sudo python3",
}

Answer = Completed | Exception | Callable[[tuple[str, ...], bytes], Completed]


@define
class FakeJob:
    """A job as the fake node sees it; `ended` is None while it runs."""

    spec: JobSpec
    out: bytes = b""
    err: bytes = b""
    ended: Exit | None = None
    survivors: tuple[int, ...] = ()


@define
class _Ending:
    code: int | None
    state: str
    seconds: float
    out: bytes
    err: bytes
    files: Mapping[str, bytes]


@define
class FakeHost:
    """Script it with `on`, `on_start`, `end`, `fail`; then read `calls`, `argvs`, `jobs`, `files`, `secrets`."""

    rank: int = 0
    name: str = "node0"
    root: str = "/var/tmp/atomrun-0/runs/r"
    known_facts: dict[str, str] = field(factory=lambda: dict(FACTS))
    files: dict[str, bytes] = field(factory=dict)
    modes: dict[str, int] = field(factory=dict)
    secrets: dict[str, bytes] = field(factory=dict)
    jobs: dict[str, FakeJob] = field(factory=dict)
    owner: Mapping[str, str] | None = None  # who holds the node; another run's `acquire` is then Busy
    default: Completed = field(factory=lambda: Completed(0))
    calls: list[tuple[Any, ...]] = field(factory=list)  # (method, its main arguments...), in order
    waited: float = 0.0  # seconds that `wait` would have blocked
    closed: bool = False
    _rules: list[tuple[tuple[str, ...], Answer]] = field(factory=list)
    _endings: dict[str, _Ending] = field(factory=dict)
    _failures: dict[str, list[Exception]] = field(factory=dict)
    _released: tuple[Stopped, ...] = ()

    # Scripting

    def on(self, *prefix: str, then: Answer) -> None:
        """Answer `run` calls whose argv starts with `prefix`."""
        self._rules.insert(0, (prefix, then))

    def fail(self, method: str, *errors: Exception) -> None:
        """Let the next calls of a method raise these, one each."""
        self._failures.setdefault(method, []).extend(errors)

    def on_start(
        self,
        name: str,
        code: int | None = 0,
        *,
        state: str = "exited",
        seconds: float = 1.0,
        out: bytes = b"",
        err: bytes = b"",
        files: Mapping[str, bytes] | None = None,
    ) -> None:
        """Let the job `name` end as soon as it is started, leaving `files` on the node."""
        self._endings[name] = _Ending(code, state, seconds, out, err, dict(files or {}))

    def end(
        self,
        name: str,
        code: int | None = 0,
        *,
        state: str = "exited",
        seconds: float = 1.0,
        out: bytes = b"",
        err: bytes = b"",
    ) -> None:
        """A running job ends now."""
        job = self.jobs[name]
        job.out += out
        job.err += err
        job.ended = Exit(name, state, code if state == "exited" else None, seconds)

    @property
    def argvs(self) -> list[tuple[str, ...]]:
        """Every argv that `run` or `start` saw, in order."""
        picked = [call for call in self.calls if call[0] in ("run", "start")]
        return [call[1] if call[0] == "run" else call[1].argv for call in picked]

    def _note(self, method: str, *args: Any) -> None:
        self.calls.append((method, *args))
        if self._failures.get(method):
            raise self._failures[method].pop(0)

    # The protocol

    def facts(self, timeout: float = 30.0) -> Mapping[str, str]:
        self._note("facts")
        return dict(self.known_facts)

    def acquire(
        self, run_id: str, who: str, lease_s: int, timeout: float = 30.0, *, takeover: bool = False
    ) -> Lease:
        self._note("acquire", run_id, who, lease_s, *(["takeover"] if takeover else []))
        if self.owner is not None and self.owner.get("run") != run_id:
            raise Busy(self.name, self.owner)
        adopted = self.owner is not None
        self.owner = {
            "run": run_id,
            "who": who,
            "since": "2026-01-01T00:00:00Z",
            "boot": "b",
            "lease": str(lease_s),
        }
        return Lease(self.root, adopted)

    def run(self, argv: Sequence[str], *, timeout: float, stdin: bytes = b"", limit: int = 8 << 20) -> Completed:
        line = tuple(argv)
        self._note("run", line, stdin)
        for prefix, answer in self._rules:
            if line[: len(prefix)] == prefix:
                if isinstance(answer, Exception):
                    raise answer
                done = answer if isinstance(answer, Completed) else answer(line, stdin)
                return Completed(done.code, done.out[:limit], done.err[:limit])
        return self.default

    def secret(self, name: str, value: bytes, timeout: float = 30.0) -> None:
        self._note("secret", name)
        self.secrets[name] = value

    def start(self, job: JobSpec, timeout: float = 30.0) -> bool:
        self._note("start", job)
        unknown = [secret for _, secret in job.secret_input if secret not in self.secrets]
        if unknown:
            raise Refused(self.name, "refused", f"no secret {unknown[0]!r} was given")
        if job.name in self.jobs:
            if self.jobs[job.name].spec != job:
                raise Refused(self.name, "refused", f"job {job.name!r} exists with another content")
            return False
        self.jobs[job.name] = FakeJob(job)
        ending = self._endings.get(job.name)
        if ending is not None:
            self.files.update(ending.files)
            self.end(
                job.name,
                ending.code,
                state=ending.state,
                seconds=ending.seconds,
                out=ending.out,
                err=ending.err,
            )
        return True

    def wait(self, names: Sequence[str], timeout: float) -> Exit | None:
        self._note("wait", tuple(names))
        for name in names:
            ended = self._job(name).ended
            if ended is not None:
                return ended
        self.waited += timeout
        return None

    def stop(self, name: str, grace: float, timeout: float = 60.0) -> Stopped:
        self._note("stop", name, grace)
        job = self._job(name)
        if job.ended is None:
            self.end(name, 143)
        return Stopped(name, job.survivors)

    def output(self, name: str, stream: str, offset: int = 0, limit: int = 1 << 20) -> bytes:
        self._note("output", name, stream, offset)
        job = self._job(name)
        data = {"out": job.out, "err": job.err}[stream]
        return data[offset:][:limit]

    def put(self, path: str, data: bytes, mode: int = 0o600, timeout: float = 60.0) -> None:
        self._note("put", path)
        self.files[self._path(path)] = data
        self.modes[self._path(path)] = mode

    def get(self, path: str, timeout: float = 60.0, limit: int = 64 << 20) -> bytes:
        self._note("get", path)
        if self._path(path) not in self.files:
            raise FileNotFoundError(path)
        return self.files[self._path(path)]

    def release(self, grace: float = 10.0, timeout: float = 120.0) -> tuple[Stopped, ...]:
        self._note("release", grace)
        if self.owner is None:
            return self._released
        stopped = []
        for name, job in reversed(self.jobs.items()):
            if job.ended is None:
                self.end(name, 143)
            stopped.append(Stopped(name, job.survivors))
        self.secrets.clear()
        self.owner = None
        self._released = tuple(stopped)
        return self._released

    def close(self) -> None:
        self.calls.append(("close",))
        self.closed = True

    def _job(self, name: str) -> FakeJob:
        if name not in self.jobs:
            raise Refused(self.name, "refused", f"no job {name!r}")
        return self.jobs[name]

    def _path(self, path: str) -> str:
        return path if path.startswith("/") else f"{self.root}/{path}"
