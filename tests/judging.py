"""Plans, cells and results in a few words, for tests of measuring, judging and reporting."""

from __future__ import annotations

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
    Topology,
)
from atomcfg.tokens import Hole, bind, template
from atomrun.cells import Attempt
from atomrun.conclude import Run

__all__ = ["make_attempt", "make_cell", "make_plan", "make_run", "make_spec"]

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
    session = Session(
        index=0,
        key="0" * 64,
        ranks=(RankLaunch(0, "head", ("python", "-m", "server"), ()),),
        probe=Probe(template(bind(Hole.HTTP_PORT, "8000")), "/health", "org/model"),
        ready_deadline_s=600,
        cells=tuple(cell.id for cell in cells),
    )
    lines = [
        (f"{cell.id}/{spec.metric}", f"threshold.json:{line}")
        for cell in cells
        for line, spec in enumerate(cell.specs, 10)
    ]
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
        sessions=(session,),
        cells=cells,
        checks=NO_CHECKS,
        unresolved=(),
        estimate=Estimate(1, 1200, 2.7),
        provenance=Provenance(
            tool="atomcfg 0.1.0",
            inputs=(InputFile("config", "mi3xx_atom_model_fp8_single.json", "a" * 64),),
            profile_chosen_by="default",
            overrides=(),
            spec_lines=tuple(lines),
            trace=(),
            notes=(),
            run_card=(),
        ),
        digest="d" * 64,
        seal="5" * 64,
    )
    return evolve(made, **changes)


def make_attempt(artifact: str | None, client_exit: int = 0, **changes: Any) -> Attempt:
    return evolve(Attempt(1, client_exit, artifact, seconds=42.0), **changes)


def make_run(**changes: Any) -> Run:
    """A run over SSH of which nothing is known yet."""
    made = Run("run-1", "ssh", "2026-05-01T12:00:00Z", 600.0, (), (), ())
    return evolve(made, **changes)
