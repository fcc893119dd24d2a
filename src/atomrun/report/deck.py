"""`report.html`, the run deck: one file that opens from disk with no network. Everything foreign is escaped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from attrs import frozen
from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from atomcfg.metrics import Tier
from atomcfg.plan import Plan
from atomcfg.shell import quoted
from atomrun.figures import FIGURES, duration, figure, number, visible
from atomrun.gate import tiers
from atomrun.results import BlockResult, CellState, ExitCode, RunResult, RunVerdict, StageStatus
from atomrun.wording import counts, headline, is_rehearsal

from .charts import BOX, charts
from .views import Group, groups, rows, tone_of, tracks

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
    values: tuple[tuple[str, str], ...]
    groups: tuple[Group, ...]


def deck(result: RunResult, plan: Plan, logs: Mapping[str, str]) -> str:
    """The HTML document. `logs` are texts by title (the first error, ends of logs), already redacted."""
    rehearsal = is_rehearsal(result)
    found = {outcome.tier for cell in result.cells for outcome in tiers(cell.verdicts)}
    columns = tuple(tier.value for tier in Tier if tier in found)
    curves = charts(result, plan)
    return _template().render(
        result=result,
        plan=plan,
        rehearsal=rehearsal,
        headline=headline(result),
        tone=_TONES[result.verdict],
        exit_code=ExitCode.of(result.verdict),
        counts=counts(result),
        took=duration(result.seconds),
        tiles=_tiles(result),
        reasons=tuple(_reason(text, result) for text in result.reasons[:_REASONS]),
        hints=tuple(dict.fromkeys(filter(None, _hints(result))))[:4],
        sections=(
            ("Gates", result.cells),
            ("Figures", result.cells),
            ("Curves", curves),
            ("Checks", result.blocks),
            ("Timeline", result.stages),
            ("Logs", logs),
            ("Provenance", True),
            ("Reproduce", True),
        ),
        columns=columns,
        rows=rows(result, plan, columns),
        figures=tuple(FIGURES.values()),
        checks=tuple(_check(block, rehearsal) for block in result.blocks),
        charts=curves,
        box=BOX,
        tracks=tracks(result),
        waiting=duration(sum(stage.waiting for stage in result.stages)),
        provenance=_provenance(result, plan),
        reproduce=_reproduce(result, plan),
        logs=[(name, text.splitlines()) for name, text in logs.items()],
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


def _check(block: BlockResult, rehearsal: bool) -> _Check:
    return _Check(
        block=block,
        tone=tone_of(block.status),
        took=duration(block.seconds),
        values=tuple((name, number(value)) for name, value in block.values.items()),
        groups=groups(block.verdicts, rehearsal),
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
