"""Plans, cells and results in a few words, for tests of measuring, judging and reporting."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from attrs import evolve

from atomcfg import metrics
from atomcfg.plan import (
    Artifact,
    Cell,
    Checks,
    Estimate,
    InputFile,
    Model,
    Node,
    Paths,
    Plan,
    Probe,
    Provenance,
    RankLaunch,
    Session,
    Spec,
    SpecLines,
    Topology,
)
from atomcfg.tokens import Hole, bind, template
from atomrun.cells import Attempt, incomplete_cell, judge_cell
from atomrun.conclude import Run, conclude
from atomrun.results import BlockResult, RunResult, StageResult, StageStatus

__all__ = [
    "NO_CHECKS", "artifact", "make_attempt", "make_cell", "make_plan", "make_result", "make_run", "make_spec",
    "mixed_plan",
]  # fmt: skip

HEALTHY = (Path(__file__).resolve().parent / "data" / "artifacts" / "atom" / "healthy.json").read_text()

NO_CHECKS = Checks(
    session=0,
    api_smoke=False,
    health_check=False,
    dmesg_scan=False,
    gpu_metrics_poll=False,
    lm_eval_version="0.4.13",
    lm_eval_install=(),
    accuracy=(),
    long_context=(),
    mtp_quality=None,
    quant_parity=None,
)


def make_spec(metric: str, kind: str, value: float | None = None, **changes: Any) -> Spec:
    """A spec as the compiler binds it: unit and tier from the vocabulary, enforced."""
    known = metrics.find(metric)
    assert known is not None, metric
    made = Spec(
        metric=metric,
        kind=kind,
        value=value,
        tolerance_pct=None,
        reference=None,
        unit=known.unit,
        tier=known.tier.value,
        enforced=kind != "info",
        vacuous=False,
    )
    return evolve(made, **changes)


def make_cell(*specs: Spec, **changes: Any) -> Cell:
    """1024/1024 tokens, concurrency 16, 80 prompts of which none may fail."""
    made = Cell(
        id="balanced-conc16",
        key="ISL=1024,OSL=1024,TP=8,PP=1,CONC=16",
        session=0,
        isl=1024,
        osl=1024,
        concurrency=16,
        num_prompts=80,
        input_range=(819, 1024),
        output_range=(819, 1024),
        seed=0,
        allowed_failures=0,
        argv=("python", "-m", "client", template("--result-dir=", bind(Hole.RUN_DIR), "/c0")),
        env=(),
        artifact=Artifact(template(bind(Hole.RUN_DIR), "/c0"), "results.json", "atom"),
        deadline_s=600,
        specs=specs,
    )
    return evolve(made, **changes)


def make_plan(*cells: Cell, **changes: Any) -> Plan:
    """One node, eight GPUs, one session; enforcing."""
    made = Plan(
        plan_version=1,
        stem="mi3xx_atom_model_fp8_single",
        profile="perf",
        driver="atom",
        gpu_arch="mi3xx",
        enforce_thresholds=True,
        orchestrator="container",
        model=Model("org/model", False, "fp8"),
        topology=Topology(1, 8, 1, 1, 8, 8),
        paths=Paths("/logs/atomrun", "/logs/atomrun", "/models", "/srv/models"),
        nodes=(Node(0, "10.0.0.1", "10.0.0.1", "tester", 22, None, "strict"),),
        container=None,
        secrets=(),
        fabric=None,
        scaling_baseline=None,
        sessions=(_session(cells),),
        cells=cells,
        checks=NO_CHECKS,
        unresolved=(),
        estimate=Estimate(1, 1200, 2.7),
        provenance=_provenance(cells),
        digest="d" * 64,
        seal="5" * 64,
    )
    return evolve(made, **changes)


def _session(cells: tuple[Cell, ...]) -> Session:
    return Session(
        index=0,
        key="0" * 64,
        ranks=(RankLaunch(0, "head", ("python", "-m", "server"), ()),),
        probe=Probe(template(bind(Hole.HTTP_PORT, "8000")), "/health", "org/model"),
        ready_deadline_s=600,
        cells=tuple(cell.id for cell in cells),
    )


def _provenance(cells: tuple[Cell, ...]) -> Provenance:
    tables = [
        SpecLines(
            "threshold.json", tuple((spec.metric, line) for line, spec in enumerate(cell.specs)), ((cell.id, 10),)
        )
        for cell in cells
    ]
    return Provenance(
        tool="atomcfg 0.1.0",
        inputs=(InputFile("config", "mi3xx_atom_model_fp8_single.json", "a" * 64),),
        profile_chosen_by="default",
        overrides=(),
        spec_tables=tuple(tables),
        trace=(),
        notes=(),
        run_card=(),
    )


def make_attempt(artifact: str | None, client_exit: int = 0, **changes: Any) -> Attempt:
    return evolve(Attempt(1, client_exit, artifact, seconds=42.0), **changes)


def make_run(**changes: Any) -> Run:
    """A run over SSH of which nothing is known yet."""
    made = Run("run-1", "ssh", "2026-05-01T12:00:00Z", 600.0, (), (), ())
    return evolve(made, **changes)


def artifact(**changes: Any) -> str:
    """The artifact of a healthy cell (`make_cell`), with fields changed."""
    return json.dumps(json.loads(HEALTHY) | changes)


def mixed_plan(count: int = 5, enforced: bool = True, **changes: Any) -> Plan:
    """`count` cells with gates of every tier; concurrency doubles from cell to cell."""
    specs = (
        make_spec("output_throughput", "min_tok_s", 3000),
        make_spec("total_token_throughput", "within", 6400, tolerance_pct=5),
        make_spec("mean_ttft_ms", "max_ms", 200),
        make_spec("p99_ttft_ms", "max_ms", 240),
        make_spec("mean_tpot_ms", "max_ms", 1e6, vacuous=True),
        make_spec("p99_e2el_ms", "max_ms", 9000),
        make_spec("success_rate", "min", 1),
        make_spec("duration", "info"),
    )
    cells = []
    for index in range(count):
        concurrency = 16 << index % 6
        cell = make_cell(
            *(evolve(spec, enforced=enforced and spec.enforced) for spec in specs),
            id=f"balanced{index // 6}-conc{concurrency}",
            key=f"ISL=1024,OSL=1024,TP=8,PP=1,CONC={concurrency}",
            concurrency=concurrency,
        )
        cells.append(cell)
    return make_plan(*cells, enforce_thresholds=enforced, **changes)


def make_result(plan: Plan | None = None, **changes: Any) -> RunResult:
    """Of a mixed plan: cells good, slow, without a percentile, invalid; then good ones, the last unfinished."""
    plan = plan or mixed_plan()
    faults: dict[int, dict[str, Any]] = {
        1: {"output_throughput": 2500.0},
        2: {"p99_ttft_ms": None},
        3: {"completed": 77},
    }
    cells = []
    for index, cell in enumerate(plan.cells[:-1]):
        text = artifact(max_concurrency=cell.concurrency, **faults.get(index, {}))
        cells.append(judge_cell(plan, cell, make_attempt(text)))
    if plan.cells:
        cells.append(incomplete_cell(plan, plan.cells[-1], "the server died", "read the server's log"))
    run = make_run(
        cells=tuple(cells),
        blocks=(
            BlockResult("functional", "api_smoke", "ok", "", 3.2, {}, ("models", "chat"), ()),
            BlockResult("dmesg", "10.0.0.1", "not_scanned", "the kernel log cannot be read", 0.3, {}, (), ()),
            BlockResult("gpu_metrics", "10.0.0.1", "ok", "", 9.0, {"gpu.power_w": 5600.0}, (), ()),
        ),
        stages=(
            StageResult("launch", StageStatus.OK, started=0.0, seconds=20.0, waiting=5.0),
            StageResult("ready", StageStatus.OK, started=20.0, seconds=180.0),
            *(
                StageResult("bench", StageStatus.OK, cell=cell.id, started=200.0 + 40 * index, seconds=40.0)
                for index, cell in enumerate(cells)
            ),
            StageResult(
                "stop", StageStatus.FAILED, "1 process is left", "atomrun cleanup run-1", 500.0, 9.0, "10.0.0.1"
            ),
        ),
        facts={"image 10.0.0.1": "sha256:0123"},
        warnings=("no token file",),
    )
    return conclude(plan, evolve(run, **changes))
