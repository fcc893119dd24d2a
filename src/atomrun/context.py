"""What a stage works with: the plan, the nodes, where things are written, and what was found so far.

`RunContext` is frozen: a stage changes only the records it points at (`NodeRun`, `SessionRun`, `CellRun`,
`Record`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from attrs import define, evolve, field, frozen

from atomcfg.plan import Cell, Node, Plan, Session
from atomcfg.tokens import Hole

from .bindings import rank_values
from .events import Event, EventKind
from .fanout import Answers, T, on_all
from .findings import Finding
from .folder import RunFolder
from .host import Exit, Host
from .jobs import Place
from .journal import Journal
from .redact import Redactor
from .replay import Past
from .results import BlockResult, CellResult, RunResult, StageResult
from .secrets import Secret
from .signals import Interrupts
from .watch import Watch

__all__ = ["CellRun", "NodeRun", "Options", "Record", "RunContext", "SessionRun"]


@frozen
class Options:
    """What the user asked for beyond the plan."""

    fail_fast: bool = False
    cells: frozenset[str] = frozenset()  # empty: all
    pull: str = "never"  # never | missing | always
    install: bool = True  # lm-eval may be installed in the container
    canary: bool = False  # the cheapest cell first
    idle_s: float = 900.0  # silence of server and client that ends what runs; 0: no limit
    lease_s: int = 1800
    prev: str = ""  # reports to compare with, for show only
    parity: str = ""
    takeover: bool = False  # drive the run even if another launcher does


def _tear_down(node: NodeRun) -> None:
    if node.root:
        node.host.release(0.0)


@define
class NodeRun:
    """One node and what this run knows of it. While nodes work side by side, each changes only its own record."""

    node: Node
    connect: Callable[[], Host]
    connection: Host | None = None
    mapped: Mapping[str, str] = field(factory=dict)  # bindings that a rehearsal sets for this rank
    run_dir: str = ""  # the run's directory on the host
    root: str = ""  # the agent's directory; empty until the node is ours
    adopted: bool = False  # an earlier launch of this run held the node until now: what it started may run
    machine: str = ""  # what tells this machine from others
    runtime: tuple[str, ...] = ()
    place: Place | None = None  # where programs run; None until launched
    tools: frozenset[str] = frozenset()  # programs on the host, as far as we look for them
    fabric: dict[str, str] = field(factory=dict)
    vram_used: int | None = None  # bytes, before the first server started

    @property
    def rank(self) -> int:
        return self.node.rank

    @property
    def name(self) -> str:
        return self.node.address

    @property
    def host(self) -> Host:
        """The node, once connected."""
        if self.connection is None:
            raise AssertionError(f"{self.name} is not connected")
        return self.connection

    @property
    def inside(self) -> Place:
        """Where programs run; only after launch."""
        if self.place is None:
            raise AssertionError(f"{self.name} was not launched")
        return self.place


@define
class SessionRun:
    """A session that is being run. `generation` counts its server starts; `dead` says why no cell can run."""

    session: Session
    watch: Watch
    generation: int = 1
    started: bool = False
    dead: str = ""
    adopted: bool = False  # an earlier launch started it
    served: bool = False  # it was ready once
    ready_s: float = 0.0  # from start to ready
    ready_uptime: float = 0.0  # when it was ready, by the head's uptime
    cache_asked: bool = False
    cached: tuple[float, float] | None = None  # prompt tokens looked up in the prefix cache, and found, by now

    @property
    def job(self) -> str:
        """The name of the server's job, on every rank."""
        return f"server-{self.session.index}.{self.generation}"


@define
class CellRun:
    """One attempt at a cell, as its stages fill it."""

    cell: Cell
    number: int  # its place in the plan
    attempt: int = 1
    started: bool = False
    exit: Exit | None = None
    began: str = ""  # as the client's clock shows it, "%Y%m%d-%H%M%S"
    artifact: str | None = None
    polled: dict[str, float] = field(factory=dict)  # gpu.* while the client ran
    log: str = ""
    trouble: str = ""  # why there is no exit
    hint: str = ""

    @property
    def job(self) -> str:
        """A name that is plain whatever the cell's id holds."""
        return f"cell-{self.number}.{self.attempt}"


@define
class Record:
    """What the run found so far."""

    stages: list[StageResult] = field(factory=list)
    cells: list[CellResult] = field(factory=list)
    blocks: list[BlockResult] = field(factory=list)
    facts: dict[str, str] = field(factory=dict)
    warnings: list[str] = field(factory=list)
    findings: list[Finding] = field(factory=list)  # of the launcher, for the table of preflight
    deselected: dict[str, str] = field(factory=dict)
    kept: dict[str, str] = field(factory=dict)  # cells and stages that an earlier launch finished, with why
    adopted: dict[int, int] = field(factory=dict)  # sessions whose server goes on, with its generation
    interrupted: bool = False
    result: RunResult | None = None  # once reported


@frozen
class RunContext:
    """One run. Stages take it and return a `StageResult`."""

    plan: Plan
    run_id: str
    owner: str  # user@host of the launcher
    transport: str  # ssh | local | rehearsal
    options: Options
    nodes: tuple[NodeRun, ...]  # by rank
    folder: RunFolder
    journal: Journal
    emit: Callable[[Event], None]
    redactor: Redactor
    secrets: Mapping[str, Secret]
    interrupts: Interrupts
    values: Mapping[str, str]  # bindings that hold on every rank
    began: datetime
    now: Callable[[], float]  # seconds since then, monotonic
    record: Record = field(factory=Record)
    past: Past = field(factory=Past)
    session: SessionRun | None = None
    cell: CellRun | None = None

    @property
    def head(self) -> NodeRun:
        return self.nodes[0]

    def placed(self, name: str) -> str:
        """A model's name; one that is a path moves with the models' folder."""
        models = self.plan.paths.models_dir.rstrip("/")
        if not name.startswith(f"{models}/"):
            return name
        return self.values.get(Hole.MODELS_DIR.value, models) + name.removeprefix(models)

    @property
    def in_containers(self) -> bool:
        return self.plan.container is not None and self.transport != "rehearsal"

    @property
    def the_session(self) -> SessionRun:
        """The session that a stage of a session is about."""
        if self.session is None:
            raise AssertionError("no session is open")
        return self.session

    @property
    def the_cell(self) -> CellRun:
        """The cell that a stage of a cell is about."""
        if self.cell is None:
            raise AssertionError("no cell is being run")
        return self.cell

    def wants(self, name: str) -> bool:
        """Whether a cell or a stage is still to be done."""
        return name not in self.record.deselected and name not in self.record.kept

    @property
    def adopts(self) -> bool:
        """Whether everything that an earlier launch started may still run, on every node."""
        return self.past.launches > 0 and all(node.adopted for node in self.nodes)

    def at(self, session: SessionRun | None = None, cell: CellRun | None = None) -> RunContext:
        """This run while it is at a session, or at a cell of one."""
        return evolve(self, session=session, cell=cell)

    def bound(self, node: NodeRun, attempt: int = 1) -> dict[str, str]:
        """Values for the holes of what runs on `node`."""
        return {**rank_values(self.values, node.rank, node.fabric, node.mapped), Hole.ATTEMPT.value: str(attempt)}

    def ask(
        self, work: Callable[[NodeRun], T], nodes: Sequence[NodeRun] | None = None, *, ending: bool = False
    ) -> Answers[T]:
        """`work` on these nodes (all by default), side by side. `ending` work is not broken off by a signal; a
        second one makes the nodes tear down at once."""
        chosen = self.nodes if nodes is None else nodes
        return on_all(chosen, work, self.interrupts, _tear_down if ending else None)

    def note(self, text: str) -> None:
        """Tell who watches."""
        self.emit(Event(EventKind.NOTE, "note", "", text))

    def warn(self, text: str) -> None:
        """Tell who watches, and keep it in the result."""
        self.record.warnings.append(self.redactor.text(text))
        self.emit(Event(EventKind.NOTE, "warning", "", text))

    @property
    def started_at(self) -> str:
        return self.began.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
