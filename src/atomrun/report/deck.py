"""`report.html`, the run deck: one file that opens from disk with no network. Everything foreign is escaped."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from attrs import frozen
from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from atomcfg.metrics import Tier
from atomcfg.plan import Plan
from atomcfg.shell import quoted
from atomrun.figures import FIGURES, duration, figure, visible
from atomrun.gate import tiers
from atomrun.results import BlockResult, CellState, ExitCode, RunResult, RunVerdict, StageStatus
from atomrun.wording import counts, headline, is_rehearsal

from . import interactive
from .charts import BOX, drawn
from .curves import Curve, curves
from .details import Details
from .material import Material
from .versus import Versus, versus
from .views import groups, rows, tone_of, tracks

__all__ = ["deck"]

_TONES = {
    RunVerdict.PASS: "good",
    RunVerdict.RECORDED: "calm",
    RunVerdict.FAIL: "bad",
    RunVerdict.INFRASTRUCTURE: "bad",
    RunVerdict.NO_VERDICT: "void",
    RunVerdict.INTERRUPTED: "void",
}


_REASONS = 10


@frozen
class _Reason:
    """A reason of the verdict; of a cell, its name leads to the cell."""

    anchor: str
    cell: str
    text: str


@frozen
class _Check:
    block: BlockResult
    tone: str
    took: str
    detail: int


def deck(result: RunResult, plan: Plan, material: Material) -> str:
    """The HTML document. The texts of `material` are already redacted.

    With the extra `report` its curves are interactive; without, they are drawn as they are.
    """
    details = Details()
    shown = curves(result, plan, material.polls)
    compared = versus(material.panels)
    return _template().render(
        **_verdict(result),
        **_cells(result, plan, details),
        **_curves(shown),
        result=result,
        plan=plan,
        sections=_sections(result, material, bool(shown), compared),
        checks=tuple(_check(block, is_rehearsal(result), details) for block in result.blocks),
        compared=compared,
        tracks=tracks(result),
        waiting=duration(sum(stage.waiting for stage in result.stages)),
        provenance=_provenance(result, plan),
        reproduce=_reproduce(result, plan),
        logs=[(name, text.splitlines()) for name, text in material.logs.items()],
        details=Markup(details.text()),  # noqa: S704 - escaped there
    )


def _verdict(result: RunResult) -> dict[str, object]:
    """What the head of the page says."""
    return {
        "rehearsal": is_rehearsal(result),
        "headline": headline(result),
        "tone": _TONES[result.verdict],
        "exit_code": ExitCode.of(result.verdict),
        "counts": counts(result),
        "took": duration(result.seconds),
        "tiles": _tiles(result),
        "reasons": tuple(_reason(text, result) for text in result.reasons[:_REASONS]),
        "hints": tuple(dict.fromkeys(filter(None, _hints(result))))[:4],
    }


def _cells(result: RunResult, plan: Plan, details: Details) -> dict[str, object]:
    """The matrix of cells and tiers, and the table of figures."""
    found = {outcome.tier for cell in result.cells for outcome in tiers(cell.verdicts)}
    columns = tuple(tier.value for tier in Tier if tier in found)
    matrix = tuple((row, details.add(row.groups, row.values)) for row in rows(result, plan, columns))
    execute = _reproduce(result, plan)[-1]
    return {
        "columns": columns,
        "figures": tuple(FIGURES.values()),
        "rows": matrix,
        "again": [f"{execute} --cell {quoted([row.id])}" for row, _ in matrix],
    }


def _curves(shown: tuple[Curve, ...]) -> dict[str, object]:
    """The drawings, and what makes them interactive if the extra is there."""
    live = bool(shown) and interactive.available()
    return {
        "charts": tuple(map(drawn, shown)),
        "box": BOX,
        "specifications": Markup(interactive.specifications(shown)) if live else None,  # noqa: S704 - escaped there
        "bundle": Markup(interactive.bundle()) if live else None,  # noqa: S704 - a program
    }


def _sections(
    result: RunResult, material: Material, curved: bool, compared: tuple[Versus, ...]
) -> tuple[tuple[str, bool], ...]:
    return (
        ("Gates", bool(result.cells)),
        ("Figures", bool(result.cells)),
        ("Curves", curved),
        ("Checks", bool(result.blocks)),
        ("Compared", bool(compared)),
        ("Timeline", bool(result.stages)),
        ("Logs", bool(material.logs)),
        ("Provenance", True),
        ("Reproduce", True),
    )


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("atomrun.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_readable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("deck.html.j2")


def _readable(value: object) -> object:
    """Control characters shown in every expression; markup (our own macros) passes."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _reason(text: str, result: RunResult) -> _Reason:
    named = [
        (cell.id, index)
        for index, cell in enumerate(result.cells)
        if text.startswith((f"{cell.id}:", f"{cell.id} "))
    ]
    if not named:
        return _Reason("", "", text)
    cell, index = max(named, key=lambda item: len(item[0]))
    return _Reason(f"cell-{index}", cell, text[len(cell) :])


def _hints(result: RunResult) -> Iterator[str]:
    yield from (stage.hint for stage in result.stages if stage.status is StageStatus.FAILED)
    for state in (CellState.INCOMPLETE, CellState.INVALID):
        yield from (cell.hint for cell in result.cells if cell.state is state)


def _tiles(result: RunResult) -> tuple[tuple[str, str, str], ...]:
    """(figure, what it is, of what)."""
    valid = [cell for cell in result.cells if cell.state is CellState.VALID]
    best = max(valid, key=lambda cell: cell.values.get("output_throughput", 0.0), default=None)
    tiles = [
        (f"{len(valid)}/{len(result.cells)}", "cells valid", ""),
        (f"{result.specs_evaluated}/{result.specs_written}", "specs evaluated", f"{result.specs_skipped} skipped"),
        (str(result.specs_vacuous), "specs that cannot fail", ""),
    ]
    if best is not None:
        tiles.append((figure(best, "output_throughput"), "output tok/s at best", best.id))
        tiles.append((figure(best, "output_tput_per_gpu"), "tok/s/GPU there", ""))
    return (*tiles, (duration(result.seconds), "wall time", ""))


def _check(block: BlockResult, rehearsal: bool, details: Details) -> _Check:
    return _Check(
        block=block,
        tone=tone_of(block.status),
        took=duration(block.seconds),
        detail=details.add(groups(block.verdicts, rehearsal), block.values),
    )


def _provenance(result: RunResult, plan: Plan) -> tuple[tuple[str, str], ...]:
    container = plan.container
    shape = plan.topology
    return (
        ("run", result.run_id),
        ("started", result.started_at),
        ("transport", result.transport),
        ("plan digest", result.plan_digest),
        ("model", f"{plan.model.id} ({plan.model.precision})"),
        ("driver", f"{result.driver} on {result.gpu_arch}"),
        ("topology", f"{shape.nnodes} node(s), TP {shape.tensor_parallelism}, PP {shape.pipeline_parallel_size}, "
                     f"DP {shape.data_parallel}: {shape.gpus} GPUs"),
        ("nodes", ", ".join(node.address for node in plan.nodes)),
        *((("image", container.image),) if container is not None else ()),
        *sorted(result.facts.items()),
        ("compiled by", plan.provenance.tool),
        *((f"{item.role} file", f"{item.name} (sha256 {item.sha256})") for item in plan.provenance.inputs),
        *((f"set {path}", value) for path, value in plan.provenance.overrides),
        *plan.provenance.run_card,
    )  # fmt: skip


def _reproduce(result: RunResult, plan: Plan) -> tuple[str, ...]:
    verb = "rehearse" if is_rehearsal(result) else "execute"
    names = {item.role: item.name for item in plan.provenance.inputs}
    compile_ = ["atomcfg", "plan", names.get("config", "CONFIG"), "--config_profile", plan.profile]
    for role, option in (("cluster", "--cluster"), ("lab", "--lab")):
        compile_ += [option, names[role]] if role in names else []
    for path, value in plan.provenance.overrides:
        compile_ += ["--set", f"{path}={value}"]
    return (quoted([*compile_, "-o", "plan.json"]), f"atomrun {verb} plan.json")
