"""Runs over nodes in memory: a plan in a container, and nodes on which all goes well until told otherwise."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from attrs import define, evolve, field, frozen
from tests.judging import artifact, make_cell, make_plan, make_spec

from atomcfg.plan import Container, EnvVar, Fabric, Mount, Node, Plan, RankLaunch, Session
from atomcfg.tokens import Hole, bind, template
from atomrun.bindings import run_values
from atomrun.context import NodeRun, Options, Record, RunContext, SessionRun
from atomrun.events import Event
from atomrun.folder import RunFolder
from atomrun.host import Completed, Exit, Host, JobSpec
from atomrun.journal import Journal, read_journal
from atomrun.redact import Redactor
from atomrun.scripts import script
from atomrun.secrets import Secret
from atomrun.signals import Interrupts
from atomrun.watch import Watch

from .fakes import FakeHost

__all__ = [
    "NAME", "RUN_DIR", "RUN_ID", "Fleet", "LiveHost", "answer", "container_plan", "healthy_host", "host_script",
    "inside_script", "probe", "with_ranks",
]  # fmt: skip

RUN_ID = "run-1"
RUN_DIR = f"/logs/atomrun/{RUN_ID}"
NAME = f"box-{RUN_ID}-r"
ENTER = ("docker", "exec", "-i")


def container_plan(*, cells: int = 1, lifetime: str = "per_run", **changes: Any) -> Plan:
    """One node, `cells` cells in one session, a docker container on the host's network, a token."""
    spec = make_spec("output_throughput", "min_tok_s", 3000)
    made = tuple(
        make_cell(
            spec,
            id=f"c{number}",
            key=f"CONC={16 + number}",
            artifact=evolve(make_cell().artifact, directory=template(bind(Hole.RUN_DIR), f"/c{number}")),
            env=(EnvVar("LEVEL", "1"), EnvVar("HF_TOKEN", secret="hf_token")),
        )
        for number in range(cells)
    )
    name = template("box-", bind(Hole.RUN_ID), "-r", bind(Hole.RANK)) if lifetime == "per_run" else "box"
    container = Container(
        runtime="docker",
        image="rocm/atom:1",
        name=name,
        lifetime=lifetime,
        run_argv=("run", "-d", "--name", name, "--network", "host", "rocm/atom:1", "infinity"),
        mounts=(Mount("/srv/models", "/models", "ro"),),
        devices=("/dev/kfd:/dev/kfd:rwm",),
    )
    return make_plan(*made, **{"container": container, **changes})


def with_ranks(plan: Plan, count: int) -> Plan:
    """The plan over `count` nodes."""
    nodes = tuple(
        Node(rank, f"10.0.0.{rank + 1}", f"10.1.0.{rank + 1}", "tester", 22, None, "strict")
        for rank in range(count)
    )
    sessions = tuple(_spread(session, count) for session in plan.sessions)
    fabric = Fabric((), None, bind_token(Hole.MASTER_ADDR, "10.1.0.1"), bind_token(Hole.MASTER_PORT, "29501"))
    return evolve(plan, nodes=nodes, sessions=sessions, fabric=fabric, topology=evolve(plan.topology, nnodes=count))


def _spread(session: Session, count: int) -> Session:
    head = session.ranks[0]
    return evolve(
        session, ranks=tuple(RankLaunch(rank, "worker" if rank else "head", head.argv, ()) for rank in range(count))
    )


def bind_token(hole: Hole, value: str) -> Any:
    return template(bind(hole, value))


def host_script(name: str) -> tuple[str, ...]:
    """The beginning of the argv that runs a script on the host."""
    return ("sh", "-c", script(name))


def inside_script(name: str, container: str = f"{NAME}0") -> tuple[str, ...]:
    return (*ENTER, container, "sh", "-c", script(name))


def probe(mode: str, container: str = f"{NAME}0") -> tuple[str, ...]:
    """The beginning of the argv that asks the probe in a container."""
    return (*ENTER, container, "python3", f"/tmp/atomrun-{RUN_ID}/probe.pyz", mode)


def answer(value: Any) -> bytes:
    """What the probe prints."""
    return b"noise\n@@ATOMRUN " + json.dumps({"answer": value}).encode() + b"\n"


@define(eq=False)
class LiveHost(FakeHost):
    """Waits as a node does: until a job ends. `effects` happen when a job of that name is started."""

    effects: dict[str, Callable[[], None]] = field(factory=dict)
    _changed: threading.Condition = field(factory=threading.Condition)

    def runs_on(self, name: str) -> None:
        """The job does not end by itself."""
        self._endings.pop(name)

    def start(self, job: JobSpec, timeout: float = 30.0) -> bool:
        started = FakeHost.start(self, job, timeout)
        self.effects.get(job.name, lambda: None)()
        return started

    def end(self, name: str, code: int | None = 0, **how: Any) -> None:
        with self._changed:
            FakeHost.end(self, name, code, **how)
            self._changed.notify_all()

    def wait(self, names: Sequence[str], timeout: float) -> Exit | None:
        with self._changed:
            self._changed.wait_for(lambda: any(self.jobs[name].ended for name in names), timeout)
        return FakeHost.wait(self, names, 0.0)


def healthy_host(rank: int = 0, cells: int = 1) -> LiveHost:
    """Everything is there; the server starts and stays; every cell ends with a good artifact."""
    host = LiveHost(rank=rank, name=f"10.0.0.{rank + 1}")
    box = f"{NAME}{rank}"
    facts = "runtime\tdocker\nimage\tsha256:aaaa\ndisk_kb\t99999999\n"
    host.on(*host_script("preflight"), then=Completed(0, facts.encode()))
    host.on(*host_script("container_state"), then=Completed(0, b"absent\n"))
    host.on_start("container-up", out=b"abcdef\n")
    host.on(*inside_script("install", box), then=Completed(0, b"python3\n"))
    for name, value in {
        "weights": {"path": "/m", "files": 3, "bytes": 7 * 10**9, "fault": ""},
        "free": {},
        "gone": {"pids": [], "ports": []},
        "accept": {"peers": [], "fault": ""},
        "connect": {"fault": ""},
    }.items():
        host.on(*probe(name, box), then=Completed(0, answer(value)))
    host.on(*host_script("fabric"), then=Completed(0, b"hca mlx5_0\nhca mlx5_1\nnetdev ens1\n"))
    host.on_start("flags")
    good = {"ready": True, "rung": "", "reason": "", "final": False, "seconds": 1.5, "uptime": 100.0}
    for generation in range(1, 4):
        host.on_start(f"ready-0.{generation}", out=answer(good))
    for number in range(cells):
        files = {f"{RUN_DIR}/c{number}/results.json": artifact().encode()}
        host.on_start(f"cell-{number}.1", out=b"atomrun: began 20260501-120000\n", files=files, seconds=42.0)
    return host


@frozen
class Fleet:
    """A run over fake nodes, and what it told."""

    run: RunContext
    hosts: tuple[LiveHost, ...]
    events: list[Event]

    @classmethod
    def of(
        cls,
        folder: Path,
        plan: Plan,
        *hosts: LiveHost,
        options: Options | None = None,
        transport: str = "ssh",
        secrets: Mapping[str, bytes] | None = None,
        connect: Callable[[int], Host] | None = None,
    ) -> Fleet:
        """`connect` replaces how a node is reached, by rank."""
        events: list[Event] = []
        known = {name: Secret(name, value) for name, value in (secrets or {"hf_token": b"hf_canary_0001"}).items()}
        redactor = Redactor(known.values())
        where = RunFolder.create(folder, RUN_ID, redactor)
        nodes = tuple(
            NodeRun(node, _opener(connect, host, node.rank), run_dir=RUN_DIR)
            for node, host in zip(plan.nodes, hosts, strict=True)
        )
        run = RunContext(
            plan=plan,
            run_id=RUN_ID,
            owner="me@here",
            transport=transport,
            options=options or Options(),
            nodes=nodes,
            folder=where,
            journal=Journal(where.path / "journal.jsonl", redactor.text, lambda: 0.0),
            emit=events.append,
            redactor=redactor,
            secrets=known,
            interrupts=Interrupts(),
            values=run_values(RUN_ID, "me@here", plan.digest, plan.paths, {}),
            began=datetime(2026, 5, 1, 12, tzinfo=UTC),
            now=lambda: 0.0,
            record=Record(),
        )
        return cls(run, hosts, events)

    @property
    def head(self) -> LiveHost:
        return self.hosts[0]

    def journal(self) -> list[Mapping[str, Any]]:
        return list(read_journal(self.run.folder.path / "journal.jsonl"))

    def told(self, kind: str) -> list[tuple[str, str, str]]:
        """The events of a kind: name, status, text."""
        return [(event.name, event.status, event.text) for event in self.events if event.kind == kind]

    def opened(self, generation: int = 1) -> RunContext:
        """The run with its first session open."""
        return self.run.at(SessionRun(self.run.plan.sessions[0], Watch(self.run.interrupts), generation))


def _opener(connect: Callable[[int], Host] | None, host: Host, rank: int) -> Callable[[], Host]:
    return (lambda: connect(rank)) if connect is not None else (lambda: host)
