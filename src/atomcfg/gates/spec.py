"""One written threshold: its metric, kind and value fit together, or a diagnostic says why not."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from attrs import evolve, frozen

from atomcfg.diagnostics import Diagnostics, Related
from atomcfg.documents import Document, JsonPath
from atomcfg.metrics import METRICS, Metric, Tier, find
from atomcfg.passes.states import BoundTable
from atomcfg.plan import Spec
from atomcfg.suggest import counted, did_you_mean

from .choose import Thresholds
from .shape import Shape, bare, shape_of

__all__ = ["Block", "SpecReader"]


class Block(Enum):
    """Where specs may stand."""

    CELL = "a cell"
    ACCURACY = "accuracy"
    LONG_CONTEXT = "long_context_accuracy"
    MTP = "mtp_quality"
    QUANT = "quant_parity"


@frozen(eq=False, repr=False)
class _Column:
    """A metric of a layout, and the shapes of its specs by what was written."""

    written: str
    metric: Metric
    recorded: bool  # nothing is judged by it
    shapes: dict[object, Shape]


@frozen(eq=False, repr=False)
class _Layout:
    """Tables of the same keys: what these stand for, and what is wrong with them."""

    columns: tuple[_Column, ...]
    prefixed: tuple[str, ...]
    faults: tuple[tuple[str, str, str, str], ...]  # code, key, summary, hint


class SpecReader:
    """Reads the specs of one threshold file, and remembers what is reported once a file."""

    def __init__(self, enforce: bool, found: Diagnostics) -> None:
        self._enforce = enforce
        self._found = found
        self._prefixed: list[JsonPath] = []
        self._vacuous: list[JsonPath] = []
        self._layouts: dict[tuple[Block, tuple[str, ...]], _Layout] = {}

    def read_at(
        self, thresholds: Thresholds, path: JsonPath, block: Block, prompts: int | None = None
    ) -> BoundTable:
        """The specs of one cell, task or check: `{metric: spec}` at `path`. `prompts`: of every cell."""
        document, value = thresholds.document, thresholds.document.get(*path)
        table: Mapping[str, Mapping[str, Any]] = value if isinstance(value, dict) else {}
        layout = self._layout(block, tuple(table))
        self._report_names(document, path, layout)
        specs: list[Spec] = []
        written: list[str] = []
        for column in layout.columns:
            body = table[column.written]
            said: object = body["kind"]
            if len(body) > 2:  # with two keys it has a kind and a value, and no more
                said = (said, body.get("tolerance_pct"), body.get("reference"))
            shape = column.shapes.get(said)
            if shape is None:
                shape = column.shapes[said] = shape_of(column.metric, body, self._enforce, prompts)
            stated = body.get("value")
            number = None if stated is None else float(stated)
            if shape.fault or (number is not None and number > shape.most):
                self._refuse(document, (*path, column.written), shape, number)
                continue
            spec = shape.known.get(number) or shape.spec(number)
            if spec.vacuous or column.recorded:
                self._notice(document, (*path, column.written), spec)
            specs.append(spec)
            written.append(column.written)
        return BoundTable(tuple(specs), document, path, tuple(written))

    @property
    def judged(self) -> frozenset[str]:
        """The metrics of cells that some spec bounds."""
        columns = [
            column
            for (block, _), layout in self._layouts.items()
            if block is Block.CELL
            for column in layout.columns
        ]
        return frozenset(
            column.metric.name
            for column in columns
            if any(shape.kind != "info" for shape in column.shapes.values())
        )

    def _layout(self, block: Block, names: tuple[str, ...]) -> _Layout:
        known = self._layouts.get((block, names))
        if known is None:
            known = self._layouts[block, names] = _layout(block, names)
        return known

    def _report_names(self, document: Document, path: JsonPath, layout: _Layout) -> None:
        self._prefixed += [(*path, written) for written in layout.prefixed]
        for code, written, summary, hint in layout.faults:
            self._found.error(code, summary, document.span((*path, written), key=True), hint)

    def _refuse(self, document: Document, path: JsonPath, shape: Shape, value: float | None) -> None:
        fault = shape.fault or shape.value_fault(value)
        if fault:
            code, key, summary, hint = fault
            self._found.error(code, f"{shape.metric.name}: {summary}", document.span((*path, key)), hint)

    def _notice(self, document: Document, path: JsonPath, spec: Spec) -> None:
        """What is no fault of the spec, but makes it useless."""
        if spec.vacuous:
            self._vacuous.append(path)
        if spec.tier == Tier.RECORD.value and spec.kind != "info":
            span = document.span(path, key=True)
            self._found.warning(
                "A815", f"{spec.metric} is recorded only: its bound fails nothing", span, "use info"
            )

    def report(self, thresholds: Thresholds | None) -> None:
        """What concerns the file as a whole: prefixed names, bounds that cannot fail."""
        if thresholds is None:
            return
        document = thresholds.document
        if self._prefixed:
            first = self._prefixed[0]
            summary = f"{counted(self._prefixed, 'metric name')} with the prefix client., read without it"
            hint = f"write {bare(str(first[-1]))}"
            self._found.note("A812", summary, document.span(first, key=True), hint)
        if self._vacuous:
            summary = f"{counted(self._vacuous, 'bound')} that cannot fail"
            more = [Related("and here", document.span(path, key=True)) for path in self._vacuous[1:4]]
            hint = 'calibrate them, or write "kind": "info" to record only'
            self._found.warning("A813", summary, document.span(self._vacuous[0], key=True), hint, more)


def _layout(block: Block, names: tuple[str, ...]) -> _Layout:
    columns: dict[str, _Column] = {}
    prefixed, faults = [], []
    for written in names:
        name = bare(written)
        if written.startswith("_"):
            continue
        if name in columns:
            summary = f"{name} has two specs, {columns[name].written} and {written}"
            faults.append(("A810", written, summary, "keep one"))
            continue
        if name != written:
            prefixed.append(written)
        metric = find(name) or (_unfiltered(name) if block is Block.ACCURACY else None)
        if metric is None:
            hint = did_you_mean(name, METRICS) or "atomcfg explain A811 lists the metrics"
            faults.append(("A811", written, f'unknown metric "{name}"', hint))
        elif _block_of(metric) is not block:
            hint = f"it belongs in {_block_of(metric).value}"
            faults.append(("A828", written, f"{name} is no metric of {block.value}", hint))
        else:
            columns[name] = _Column(written, metric, metric.tier is Tier.RECORD, {})
    return _Layout(tuple(columns.values()), tuple(prefixed), tuple(faults))


def _unfiltered(name: str) -> Metric | None:
    """The metric of a task whose filter is not named; the caller warns of it."""
    known = find(f"{name}__none")
    return None if known is None else evolve(known, name=name)


def _block_of(metric: Metric) -> Block:
    name = metric.name
    if metric.tier is not Tier.ACCURACY:
        return Block.CELL
    if name.startswith("accuracy.niah_pass_rate__"):
        return Block.LONG_CONTEXT
    if name.startswith(("mtp.", "accuracy.")):
        return Block.MTP
    return Block.QUANT if name.startswith("quant_parity.") else Block.ACCURACY
