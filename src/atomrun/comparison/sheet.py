"""What `report.json` says of a run, as far as another run can be set against it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import cattrs
from attrs import frozen

from atomcfg.plan import Plan
from atomrun.results import CellState, ExitCode, RunResult
from atomrun.wording import headline, is_rehearsal

__all__ = ["REPORT_VERSION", "Sheet", "SheetCell", "SheetError", "load_sheet", "sheet_of"]

REPORT_VERSION = 1


@frozen
class SheetCell:
    """One cell: `values` are its measurements by metric; empty unless `state` is valid."""

    id: str
    key: str
    state: str
    values: Mapping[str, float]


@frozen
class Sheet:
    """A run's identity and measurements. `arch` is what the nodes said; of a run that did not ask them, the
    plan's family."""

    report_version: int
    run_id: str
    started_at: str
    stem: str
    profile: str
    plan_digest: str
    model: str
    driver: str
    arch: str
    gpus: int
    hosts: tuple[str, ...]
    transport: str
    rehearsal: bool
    image: str
    image_digests: tuple[str, ...]
    versions: Mapping[str, str]  # ROCm, kernel driver
    verdict: str
    exit_code: int
    enforce_thresholds: bool
    cells: tuple[SheetCell, ...]
    accuracy: Mapping[str, float]  # <task>.<metric>__<filter>


class SheetError(ValueError):
    """The text is no `report.json`, or one of another version."""


_CONVERTER = cattrs.Converter()  # keys of others (`panels`) are none of a sheet's


def sheet_of(result: RunResult, plan: Plan) -> Sheet:
    """What `report.json` will say of this run."""
    facts = result.facts
    container = plan.container
    return Sheet(
        report_version=REPORT_VERSION,
        run_id=result.run_id,
        started_at=result.started_at,
        stem=result.stem,
        profile=result.profile,
        plan_digest=result.plan_digest,
        model=plan.model.id,
        driver=result.driver,
        arch="+".join(_told(facts, "gpu_arch")) or result.gpu_arch,
        gpus=plan.topology.gpus,
        hosts=tuple(node.address for node in plan.nodes),
        transport=result.transport,
        rehearsal=is_rehearsal(result),
        image=container.image if container is not None else "",
        image_digests=_told(facts, "image"),
        versions={name: told for name in ("rocm", "gpu_driver") if (told := ", ".join(_told(facts, name)))},
        verdict=headline(result),
        exit_code=ExitCode.of(result.verdict),
        enforce_thresholds=result.enforce_thresholds,
        cells=tuple(
            SheetCell(
                cell.id, cell.key, cell.state.value, _finite(cell.values) if cell.state is CellState.VALID else {}
            )
            for cell in result.cells
        ),
        accuracy={
            name: value
            for block in result.blocks
            if block.block == "accuracy" and block.status != "invalid"
            for name, value in _finite(block.values).items()
        },
    )


def load_sheet(text: str) -> Sheet:
    """The sheet in a `report.json`. Raises `SheetError`."""
    try:
        document: Any = json.loads(text)
    except json.JSONDecodeError as error:
        raise SheetError(f"not JSON: {error}") from None
    version = document.get("report_version") if isinstance(document, dict) else None
    if version != REPORT_VERSION:
        raise SheetError(f"not a report.json of this version: report_version is {version!r}, not {REPORT_VERSION}")
    try:
        return _CONVERTER.structure(document, Sheet)
    except cattrs.BaseValidationError as error:
        raise SheetError("; ".join(cattrs.transform_error(error))) from None


def _told(facts: Mapping[str, str], what: str) -> tuple[str, ...]:
    """What the nodes said of one thing; one answer when they agree."""
    return tuple(sorted({value for name, value in facts.items() if name.startswith(f"{what} ") and value}))


def _finite(values: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in values.items() if math.isfinite(value)}
