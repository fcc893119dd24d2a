"""What the user asked for, typed: one profile of one config, its cluster, and the defaults filled in.

Every class is frozen. Field names are those of the flat configuration, so `params.port_no` here is
`params.port_no` there, and `Settings.document.span(("params", "port_no"))` says where it was written.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from .documents import Document
from .plan import Mount, Node

__all__ = [
    "AccuracyTaskSettings", "Cluster", "Combo", "ContainerSettings", "NeedleSettings", "Params", "PathSettings",
    "Run", "ServerSettings", "Settings",
]  # fmt: skip


@frozen(eq=False, repr=False)
class PathSettings:
    shared_fs: str
    models_dir: str
    log_dir: str
    hf_token_file: str


@frozen(eq=False, repr=False)
class ContainerSettings:
    lifetime: str
    name: str
    image: str
    runtime: str
    args: Mapping[str, object]  # runtime.args, validated; `env` is already merged into the server's
    mounts: tuple[Mount, ...]


@frozen(eq=False, repr=False)
class ServerSettings:
    """`arguments` holds what the file gave under each of `atom_args`, `serve_args`, `sglang_args`."""

    arguments: Mapping[str, object]
    env: Mapping[str, str]
    ib_hca_devices: tuple[str, ...]  # empty: "auto"
    ib_netdev: str | None  # None: "auto"
    memory_fraction: str | None = None  # serving dialect only: the engine's flag unless the arguments give it
    log_level: str | None = None  # likewise


@frozen(eq=False, repr=False)
class Params:
    """`params` with the defaults of all dialects. Waits are budgets in seconds."""

    driver: str
    backend: str
    base_url: str
    port_no: int
    dataset_name: str
    request_rate: str  # "inf" or a decimal number, as written
    random_range_ratio: str  # as written, so that argv shows what the file says
    random_prefix_len: int
    burstiness: str
    seed: int
    tokenizer_mode: str
    percentile_metrics: str
    metric_percentiles: str
    num_prompts: int
    max_model_length: int
    tensor_parallelism: int
    pipeline_parallel_size: int
    nnodes: int
    master_addr: str | None
    master_port: int
    bench_max_failed_requests: int
    reuse_server_across_sweep: bool
    result_filename: str
    scaling_baseline_output_throughput: float | None
    bench_extra_args: tuple[str, ...]
    server_precheck_wait_s: int
    server_warmup_wait_s: int
    server_poll_count: int
    server_poll_wait_time: int
    client_initial_wait_s: int
    client_poll_count: int
    client_poll_wait_time: int

    @property
    def server_deadline_s(self) -> int:
        return (
            self.server_precheck_wait_s
            + self.server_warmup_wait_s
            + self.server_poll_count * self.server_poll_wait_time
        )

    @property
    def client_deadline_s(self) -> int:
        return self.client_initial_wait_s + self.client_poll_count * self.client_poll_wait_time


@frozen(eq=False, repr=False)
class Combo:
    """A named sequence shape. `goodput_slo`: ("ttft", 200.0) and the like, in ms."""

    name: str
    isl: int
    osl: int
    goodput_slo: tuple[tuple[str, float], ...] = ()


@frozen(eq=False, repr=False)
class Run:
    """One benchmark cell as written; `path` is its place in the flat document."""

    combo: Combo
    concurrency: int
    path: tuple[str | int, ...]


@frozen(eq=False, repr=False)
class AccuracyTaskSettings:
    id: str
    task: str
    num_fewshot: int
    num_concurrent: int
    apply_chat_template: bool
    metadata: Mapping[str, object]
    include_path: str | None
    gen_kwargs: Mapping[str, object]
    limit: int | None


@frozen(eq=False, repr=False)
class NeedleSettings:
    id: str
    isl: int
    osl: int
    num_prompts: int
    seed: int


@frozen(eq=False, repr=False)
class Cluster:
    """The cluster file: nodes by rank (0 is the head), and what it exports to servers and clients."""

    orchestrator: str  # container | baremetal
    nodes: tuple[Node, ...]
    env_vars: Mapping[str, str]


@frozen(eq=False, repr=False)
class Settings:
    """One profile, complete and typed. What every later pass and every driver reads."""

    stem: str
    profile: str
    gpu_arch: str
    enforce_thresholds: bool
    paths: PathSettings
    model_id: str
    model_remote: bool
    precision: str
    container: ContainerSettings | None  # None on baremetal
    server: ServerSettings
    params: Params
    runs: tuple[Run, ...]
    api_smoke: bool
    health_check: bool
    dmesg_scan: bool
    gpu_metrics_poll: bool
    accuracy: tuple[AccuracyTaskSettings, ...]
    long_context: tuple[NeedleSettings, ...]
    mtp_enabled: bool
    mtp_prompt: str
    mtp_expected_sha256: str
    quant_enabled: bool
    quant_prompt: str
    quant_reference: str
    cluster: Cluster
    run_card: Mapping[str, str]
    document: Document = field(repr=False, eq=False)
