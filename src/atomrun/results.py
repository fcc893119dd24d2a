"""What a run found: measurements, verdicts, stage outcomes. Values only; frozen to the leaves.

Parsers make `Reading`s, `validity` and `gate` make `CellResult`s and `Verdict`s, stages make `StageResult`s, and
`RunResult` is what `verdicts.json` holds and every report is drawn from.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from attrs import field, frozen

__all__ = [
    "BlockResult", "CellResult", "CellState", "ExitCode", "Reading", "RunResult", "RunVerdict", "StageResult",
    "StageStatus", "Status", "Verdict",
]  # fmt: skip


class Status(StrEnum):
    """The verdict on one written spec."""

    PASS = "PASS"
    FAIL = "FAIL"
    INFO = "INFO"
    SKIPPED = "SKIPPED"  # the metric is missing from the artifact
    INVALID = "INVALID"  # the cell itself is invalid: there is no performance to judge


class CellState(StrEnum):
    VALID = "valid"
    INVALID = "invalid"
    INCOMPLETE = "incomplete"  # never ran, or never finished


class RunVerdict(StrEnum):
    """The run as a whole. `RECORDED`: a valid record-only run."""

    PASS = "PASS"
    RECORDED = "RECORDED"
    FAIL = "FAIL"
    INFRASTRUCTURE = "INFRASTRUCTURE"
    NO_VERDICT = "NO VERDICT"
    INTERRUPTED = "INTERRUPTED"


class ExitCode:
    """The process exit codes; `of` is the only place that maps a verdict to one."""

    OK, GATE, USAGE, INFRASTRUCTURE, NO_VERDICT, INTERRUPTED = 0, 1, 2, 3, 4, 130

    @classmethod
    def of(cls, verdict: RunVerdict) -> int:
        return {
            RunVerdict.PASS: cls.OK,
            RunVerdict.RECORDED: cls.OK,
            RunVerdict.FAIL: cls.GATE,
            RunVerdict.INFRASTRUCTURE: cls.INFRASTRUCTURE,
            RunVerdict.NO_VERDICT: cls.NO_VERDICT,
            RunVerdict.INTERRUPTED: cls.INTERRUPTED,
        }[verdict]


@frozen
class Reading:
    """One artifact, parsed. `values` are finite measurements by bare metric name (ms, tok/s, counts, s).

    `missing` says why a metric that the format should have is absent (not finite, null, renamed).
    `echo` is what the client says of the request: model_id, num_prompts, max_concurrency, date, seed, lengths.
    `extra` keeps every field that is not in the vocabulary, as JSON text.
    """

    format: str
    values: Mapping[str, float]
    missing: Mapping[str, str] = field(factory=dict)
    echo: Mapping[str, str] = field(factory=dict)
    extra: Mapping[str, str] = field(factory=dict)


@frozen
class Verdict:
    """One written spec, judged. `recorded`: thresholds are not enforced, `status` is what it would have been.

    `margin_pct` is positive on the passing side; None where it has no meaning.
    """

    owner: str  # cell id or check id
    metric: str
    kind: str
    status: Status
    recorded: bool
    actual: float | None
    bound: float | None
    margin_pct: float | None
    unit: str
    tier: str
    vacuous: bool
    source: str  # file:line of the spec
    reason: str = ""


@frozen
class CellResult:
    """One cell: whether it counts, what was measured, how each spec came out."""

    id: str
    key: str
    session: int
    attempt: int
    state: CellState
    reason: str  # why it is invalid or incomplete; "" when valid
    hint: str
    seconds: float  # bench wall time, by the node's clock
    values: Mapping[str, float]
    missing: Mapping[str, str]
    verdicts: tuple[Verdict, ...]


@frozen
class BlockResult:
    """One optional check (functional, accuracy task, needle cell, MTP quality, quant parity, dmesg, GPU poll)."""

    block: str  # functional | accuracy | long_context | mtp_quality | quant_parity | dmesg | gpu_metrics
    id: str
    status: str  # ok | failed | error | skipped | unsupported | not_scanned | invalid
    reason: str
    seconds: float
    values: Mapping[str, float]
    details: tuple[str, ...]
    verdicts: tuple[Verdict, ...]


class StageStatus(StrEnum):
    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"


@frozen
class StageResult:
    """One stage: status, reason, duration; `hint` names the next thing to try."""

    stage: str
    status: StageStatus
    reason: str = ""
    hint: str = ""
    started: float = 0.0  # seconds since the run began
    seconds: float = 0.0
    node: str = ""  # the node that decided, if one did
    cell: str = ""  # the cell it was about, if one was
    waiting: float = 0.0  # of `seconds`, time in which nothing was measured or loaded


@frozen
class RunResult:
    """A finished run."""

    schema_version: int
    run_id: str
    plan_digest: str
    stem: str
    profile: str
    driver: str
    gpu_arch: str
    transport: str  # ssh | local | rehearsal
    enforce_thresholds: bool
    verdict: RunVerdict
    reasons: tuple[str, ...]
    started_at: str  # launcher's clock, ISO 8601, UTC
    seconds: float
    specs_written: int
    specs_evaluated: int
    specs_skipped: int
    specs_vacuous: int
    cells: tuple[CellResult, ...]
    blocks: tuple[BlockResult, ...]
    stages: tuple[StageResult, ...]
    facts: Mapping[str, str]  # provenance: image digest per node, hosts, ROCm and driver version
    warnings: tuple[str, ...]
