"""One written threshold: its metric, kind and value fit together, or a diagnostic says why not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum

from attrs import evolve, frozen

from atomcfg.diagnostics import Diagnostics, Related
from atomcfg.documents import Document, JsonPath
from atomcfg.metrics import METRICS, Direction, Metric, Tier, find
from atomcfg.passes.states import BoundTable
from atomcfg.plan import Spec
from atomcfg.suggest import counted, did_you_mean

from .choose import Thresholds

__all__ = ["Block", "SpecReader"]

_PREFIX = "client."
_RECORD = Tier.RECORD.value
_TOO_LONG_MS = 1e6
_TOO_MANY = 1e9
# Ratios of these pairs are at least 1 by definition: numerator, reference.
_ORDERED = ("median", "p90", "p95", "p99")


class Block(Enum):
    """Where specs may stand."""

    CELL = "a cell"
    ACCURACY = "accuracy"
    LONG_CONTEXT = "long_context_accuracy"
    MTP = "mtp_quality"
    QUANT = "quant_parity"


@frozen(eq=False, repr=False)
class _Column:
    """A metric of a layout, and its specs by what was written: the cells of a sweep repeat them."""

    written: str
    metric: Metric
    known: dict[tuple[object, ...], Spec]


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
        table: Mapping[str, Mapping[str, object]] = value if isinstance(value, dict) else {}
        layout = self._layout(block, tuple(table))
        self._report_names(document, path, layout)
        specs: list[Spec] = []
        written: list[str] = []
        for column in layout.columns:
            body = table[column.written]
            said = (body.get("kind"), body.get("value"), body.get("tolerance_pct"), body.get("reference"))
            spec = column.known.get(said)
            if spec is None:
                if not self._fits(document, (*path, column.written), column.metric, body):
                    continue
                spec = column.known[said] = self._spec(column.metric, body, prompts)
            if spec.vacuous or spec.tier == _RECORD:
                self._notice(document, (*path, column.written), spec)
            specs.append(spec)
            written.append(column.written)
        return BoundTable(tuple(specs), document, path, tuple(written))

    def _layout(self, block: Block, names: tuple[str, ...]) -> _Layout:
        known = self._layouts.get((block, names))
        if known is None:
            known = self._layouts[block, names] = _layout(block, names)
        return known

    def _report_names(self, document: Document, path: JsonPath, layout: _Layout) -> None:
        self._prefixed += [(*path, written) for written in layout.prefixed]
        for code, written, summary, hint in layout.faults:
            self._found.error(code, summary, document.span((*path, written), key=True), hint)

    def _fits(self, document: Document, path: JsonPath, metric: Metric, body: Mapping[str, object]) -> bool:
        for rule in _RULES:
            fault = rule(metric, body)
            if fault:
                code, key, summary, hint = fault
                self._found.error(code, f"{metric.name}: {summary}", document.span((*path, key)), hint)
                return False
        return True

    def _spec(self, metric: Metric, body: Mapping[str, object], prompts: int | None) -> Spec:
        kind, value = str(body["kind"]), _number(body.get("value"))
        reference = body.get("reference")
        return Spec(
            metric=metric.name,
            kind=kind,
            value=value,
            tolerance_pct=_number(body.get("tolerance_pct")),
            reference=str(reference).removeprefix(_PREFIX) if reference is not None else None,
            unit=metric.unit,
            tier=metric.tier.value,
            enforced=self._enforce and kind != "info" and metric.tier is not Tier.RECORD,
            vacuous=_is_vacuous(metric, kind, value, reference, prompts),
        )

    def _notice(self, document: Document, path: JsonPath, spec: Spec) -> None:
        """What is no fault of the spec, but makes it useless."""
        if spec.vacuous:
            self._vacuous.append(path)
        if spec.tier == _RECORD and spec.kind != "info":
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
            summary = f"{counted(self._prefixed, 'metric name')} with the prefix {_PREFIX}, read without it"
            hint = f"write {str(first[-1]).removeprefix(_PREFIX)}"
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
        name = written.removeprefix(_PREFIX)
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
            columns[name] = _Column(written, metric, {})
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


Fault = tuple[str, str, str, str] | None  # code, key of the spec, summary, hint


def _kind_fits(metric: Metric, body: Mapping[str, object]) -> Fault:
    kind, fault = body["kind"], ""
    if kind == "max_ms" and metric.unit != "ms":
        fault = f"max_ms bounds milliseconds, this is {metric.unit}"
    elif kind == "min_tok_s" and metric.unit != "tok/s":
        fault = f"min_tok_s bounds tok/s, this is {metric.unit}"
    elif kind in ("min", "min_tok_s") and metric.direction is Direction.LOWER:
        fault = "lower is better, so a lower bound gates nothing"
    elif kind in ("max", "max_ms") and metric.direction is Direction.HIGHER:
        fault = "higher is better, so an upper bound gates nothing"
    return ("A814", "kind", fault, f"use {_proposed_kind(metric)}") if fault else None


def _proposed_kind(metric: Metric) -> str:
    if metric.direction is Direction.LOWER:
        return '"max_ms"' if metric.unit == "ms" else '"max"'
    if metric.direction is Direction.HIGHER:
        return '"min_tok_s"' if metric.unit == "tok/s" else '"min"'
    return '"info": it is recorded only'


def _value_fits(metric: Metric, body: Mapping[str, object]) -> Fault:
    value = _number(body.get("value"))
    if value is None:
        return None
    if metric.unit in ("ratio", "bool") and body["kind"] in ("min", "max", "within") and value > 1:
        return "A816", "value", f"a {metric.unit} is at most 1, the bound is {value:g}", "write 0.95 for 95 %"
    return None


def _reference_fits(metric: Metric, body: Mapping[str, object]) -> Fault:
    reference = body.get("reference")
    if body["kind"] != "min_ratio":
        return None
    name = str(reference).removeprefix(_PREFIX)
    if find(name) is None:
        return "A817", "reference", f'unknown reference "{reference}"', did_you_mean(name, METRICS)
    if name == metric.name:
        return "A817", "reference", "the metric is its own reference", "name another metric"
    return None


_RULES: tuple[Callable[[Metric, Mapping[str, object]], Fault], ...] = (_kind_fits, _value_fits, _reference_fits)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _is_vacuous(metric: Metric, kind: str, value: float | None, reference: object, prompts: int | None) -> bool:
    """Whether no measurement can fail the bound (every metric with a direction is at least 0)."""
    if value is None or kind == "info":
        return False
    if kind in ("min", "min_tok_s"):
        return value <= 0
    if kind in ("max", "max_ms"):
        if metric.name == "failed" and prompts is not None and value >= prompts:
            return True
        limit = _TOO_LONG_MS if metric.unit == "ms" else 1.0 if metric.unit in ("ratio", "bool") else _TOO_MANY
        return value >= limit
    return kind == "min_ratio" and value <= 1 and (value <= 0 or _at_least(metric.name, str(reference)))


def _at_least(name: str, reference: str) -> bool:
    """Whether `name` is at least `reference` by definition: a higher percentile, a total of its part."""
    if (name, reference) in (
        ("total_token_throughput", "output_throughput"),
        ("per_gpu_throughput", "output_tput_per_gpu"),
    ):
        return True
    high, _, what = name.partition("_")
    low, _, other = reference.removeprefix(_PREFIX).partition("_")
    return what == other and high in _ORDERED and low in _ORDERED and _ORDERED.index(high) >= _ORDERED.index(low)
