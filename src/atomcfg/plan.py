"""The run plan: everything that an execution needs, frozen to the leaves.

Only values live here, no behaviour. `planio` reads and writes the JSON document, which is also how a plan is
printed; `meaning` computes what the digest covers. Times are in seconds, lengths in tokens, throughput in tok/s,
latency in ms.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import field, frozen

from .tokens import Token
from .value import Value

PLAN_VERSION = 1


@frozen(eq=False, repr=False)
class EnvVar(Value):
    """One environment entry: exactly one of `value` (a token) and `secret` (the name of a `SecretRef`)."""

    name: str
    value: Token | None = None
    secret: str | None = None


@frozen(eq=False, repr=False)
class SecretRef(Value):
    """Where the launcher finds a secret. The value itself never enters a plan."""

    name: str  # e.g. "hf_token"
    file: str  # path on the launcher
    required: bool  # False: without the file the run goes on, with a warning


@frozen(eq=False, repr=False)
class Node(Value):
    """A machine by rank; rank 0 is the head."""

    rank: int
    address: str  # where the launcher logs in
    cluster_address: str  # what the other nodes use (vpc_ip)
    user: str
    port: int
    key_file: str | None
    host_key_policy: str  # strict | accept-new


@frozen(eq=False, repr=False)
class Mount(Value):
    """A bind mount. `source` is a host path that must exist before launch."""

    source: str
    target: str
    options: str  # "" or e.g. "ro"


@frozen(eq=False, repr=False)
class Container(Value):
    """How each rank's container is made. `run_argv` follows the runtime's program name (`docker`)."""

    runtime: str  # docker | podman
    image: str
    name: Token
    lifetime: str  # per_run | persistent | no_launch
    run_argv: tuple[Token, ...]
    mounts: tuple[Mount, ...]
    devices: tuple[str, ...]


@frozen(eq=False, repr=False)
class Paths(Value):
    """Directories of a run. `run_root` is on the nodes' hosts, `run_root_inside` the same place in the container.

    A run writes below `<run_root>/<run id>`; the hole `run_dir` is `<run_root_inside>/<run id>`.
    """

    run_root: str  # <log_dir>/atomrun
    run_root_inside: str
    models_dir: str  # inside the container
    models_dir_host: str | None  # None: no mount provides it


@frozen(eq=False, repr=False)
class Model(Value):
    id: str
    remote: bool  # True: the model stage downloads the weights on each node
    precision: str


@frozen(eq=False, repr=False)
class Topology(Value):
    """Parallelism. `gpus` = TP x PP x DP is what per-GPU metrics divide by."""

    nnodes: int
    tensor_parallelism: int
    pipeline_parallel_size: int
    data_parallel: int
    gpus: int
    gpus_per_node: int


@frozen(eq=False, repr=False)
class Fabric(Value):
    """What fabric discovery has to find (nnodes > 1). `hca` empty and `netdev` None mean "auto"."""

    hca: tuple[str, ...]
    netdev: str | None
    master_addr: Token
    master_port: Token


@frozen(eq=False, repr=False)
class RankLaunch(Value):
    """One rank's server process."""

    rank: int
    role: str  # head: serves HTTP | worker: joins the head
    argv: tuple[Token, ...]
    env: tuple[EnvVar, ...]


@frozen(eq=False, repr=False)
class Probe(Value):
    """How the head's readiness is judged: port, health path, served model id, then one real completion."""

    port: Token
    health_path: str
    model_id: str


@frozen(eq=False, repr=False)
class Session(Value):
    """One server start and the cells that use it, in order."""

    index: int
    key: str  # SHA-256 over all that reaches the server
    ranks: tuple[RankLaunch, ...]
    probe: Probe
    ready_deadline_s: int
    cells: tuple[str, ...]


@frozen(eq=False, repr=False)
class Spec(Value):
    """One written threshold, bound to its cell or task."""

    metric: str
    kind: str  # min | max | max_ms | min_tok_s | within | min_ratio | info
    value: float | None
    tolerance_pct: float | None
    reference: str | None
    unit: str
    tier: str  # throughput | ttft | tpot | latency | health | scaling | record | accuracy
    enforced: bool
    vacuous: bool  # the bound cannot fail


@frozen(eq=False, repr=False)
class Artifact(Value):
    """Where the client writes its result on the head node, and which parser reads it."""

    directory: Token
    name: str
    format: str  # atom | vllm | sglang


@frozen(eq=False, repr=False)
class Cell(Value):
    """One benchmark cell."""

    id: str
    key: str
    session: int
    isl: int
    osl: int
    concurrency: int
    num_prompts: int
    input_range: tuple[int, int]  # tokens per request the client may draw
    output_range: tuple[int, int]
    seed: int
    allowed_failures: int
    argv: tuple[Token, ...]
    env: tuple[EnvVar, ...]
    artifact: Artifact
    deadline_s: int
    specs: tuple[Spec, ...]


@frozen(eq=False, repr=False)
class AccuracyTask(Value):
    """One lm-eval task, on the session that `Checks.session` names."""

    id: str
    task: str
    argv: tuple[Token, ...]
    env: tuple[EnvVar, ...]
    output_dir: Token
    deadline_s: int
    specs: tuple[Spec, ...]


@frozen(eq=False, repr=False)
class NeedleCell(Value):
    """One needle-in-a-haystack cell; its metric is `accuracy.niah_pass_rate__<id>`."""

    id: str
    isl: int
    osl: int
    num_prompts: int
    seed: int
    specs: tuple[Spec, ...]


@frozen(eq=False, repr=False)
class MtpQuality(Value):
    prompt: str
    expected_sha256: str  # "": record only
    speculative: bool  # the server's flags ask for MTP: acceptance is then a required metric
    specs: tuple[Spec, ...]


@frozen(eq=False, repr=False)
class QuantParity(Value):
    prompt: str
    reference_stem: str  # "": record the fingerprint only
    specs: tuple[Spec, ...]


@frozen(eq=False, repr=False)
class Checks(Value):
    """The optional blocks. All but the functional checks run once, on session `session` (the last)."""

    session: int
    api_smoke: bool
    health_check: bool
    dmesg_scan: bool
    gpu_metrics_poll: bool
    lm_eval_version: str
    lm_eval_install: tuple[str, ...]  # argv that installs it in the container
    accuracy: tuple[AccuracyTask, ...]
    long_context: tuple[NeedleCell, ...]
    mtp_quality: MtpQuality | None
    quant_parity: QuantParity | None


@frozen(eq=False, repr=False)
class Estimate(Value):
    """Upper bounds from the budgets, never a forecast."""

    server_starts: int
    bound_s: int
    gpu_hours: float


@frozen(eq=False, repr=False)
class InputFile(Value):
    role: str  # config | threshold | cluster | lab
    name: str
    sha256: str


@frozen(eq=False, repr=False)
class TraceEntry(Value):
    """Where one configuration value came from and what it became."""

    path: str  # dotted path in the flat configuration
    value: str  # as JSON
    source: str  # file:line, --set, environment, default
    used: tuple[str, ...]  # e.g. "server argv --max-model-len", "client argv --seed", "gate output_throughput"


@frozen(eq=False, repr=False)
class SpecLines(Value):
    """Where specs stand in a file. Owners whose tables are laid out alike share one entry.

    The spec of `metrics[i]` of each owner stands `metrics[i][1]` lines below the owner's own line.
    """

    file: str
    metrics: tuple[tuple[str, int], ...]
    owners: tuple[tuple[str, int], ...]  # a cell's, task's or needle's id, or a block's name; its line


@frozen(eq=False, repr=False)
class Provenance(Value):
    """Shown to people; never executed, never judged, not in the digest."""

    tool: str
    inputs: tuple[InputFile, ...]
    profile_chosen_by: str  # option | environment | file | default | only
    overrides: tuple[tuple[str, str], ...]
    spec_tables: tuple[SpecLines, ...]
    trace: tuple[TraceEntry, ...]
    notes: tuple[str, ...]  # warnings of the compilation, rendered short
    run_card: tuple[tuple[str, str], ...]

    @property
    def spec_lines(self) -> tuple[tuple[str, str], ...]:
        """Of every spec ("<owner>/<metric>", "file:line")."""
        return tuple(
            entry for table in self.spec_tables for owner in table.owners for entry in _lines(table, *owner)
        )

    def lines_of(self, owner: str) -> dict[str, str]:
        """`spec_lines` of one cell, task or check."""
        return {
            name: place
            for table in self.spec_tables
            for known, line in table.owners
            if known == owner
            for name, place in _lines(table, known, line)
        }


def _lines(table: SpecLines, owner: str, line: int) -> Iterator[tuple[str, str]]:
    for metric, below in table.metrics:
        yield f"{owner}/{metric}", f"{table.file}:{line + below}"


@frozen(eq=False, repr=False)
class Plan(Value):
    """A resolved run. `digest` covers all that executes and judges; `seal` the whole document."""

    plan_version: int
    stem: str
    profile: str
    driver: str
    gpu_arch: str
    enforce_thresholds: bool
    orchestrator: str  # container | baremetal
    model: Model
    topology: Topology
    paths: Paths
    nodes: tuple[Node, ...]
    container: Container | None
    secrets: tuple[SecretRef, ...]
    fabric: Fabric | None
    scaling_baseline: float | None  # single-node output tok/s
    sessions: tuple[Session, ...]
    cells: tuple[Cell, ...]
    checks: Checks
    unresolved: tuple[str, ...]  # paths that a lab must still supply; only a dry run has any
    estimate: Estimate
    provenance: Provenance
    digest: str = field(default="")
    seal: str = field(default="")
