"""Thresholds of the optional blocks: accuracy tasks, needle cells, MTP quality, quant parity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import frozen

from atomcfg.diagnostics import Diagnostics
from atomcfg.passes.states import BoundTable, Expanded
from atomcfg.suggest import did_you_mean, nearest

from .choose import Thresholds
from .spec import Block, SpecReader

__all__ = ["BlockGates", "bind_blocks"]


@frozen(eq=False, repr=False)
class BlockGates:
    accuracy: Mapping[str, BoundTable]
    long_context: Mapping[str, BoundTable]
    mtp_quality: BoundTable | None
    quant_parity: BoundTable | None


def bind_blocks(
    expanded: Expanded, thresholds: Thresholds | None, reader: SpecReader, found: Diagnostics
) -> BlockGates:
    """The specs of every configured task and check."""
    if thresholds is None:
        return BlockGates({}, {}, None, None)
    settings = expanded.built.settings
    tasks = [task.id for task in settings.accuracy]
    needles = [needle.id for needle in settings.long_context]
    accuracy = _by_id(Block.ACCURACY, tasks, thresholds, reader, found)
    _check_filters(accuracy, found)
    return BlockGates(
        accuracy=accuracy,
        long_context=_by_id(Block.LONG_CONTEXT, needles, thresholds, reader, found),
        mtp_quality=_table(Block.MTP, thresholds, reader),
        quant_parity=_table(Block.QUANT, thresholds, reader),
    )


def _by_id(
    kind: Block, ids: Iterable[str], thresholds: Thresholds, reader: SpecReader, found: Diagnostics
) -> dict[str, BoundTable]:
    known, block = list(ids), kind.value
    stated = thresholds.table.get(block)
    entries = stated if isinstance(stated, dict) else {}
    bound = {}
    strangers: list[str] = []
    for name in entries:
        if name in known:
            bound[name] = reader.read_at(thresholds, (*thresholds.base, block, name), kind)
        elif not name.startswith("_"):
            strangers.append(name)
    _report_strangers(block, strangers, known, thresholds, found)
    bare = [name for name in known if name not in entries]
    if bare:
        span = thresholds.document.span((*thresholds.base, block) if stated is not None else (), key=True)
        found.note("A819", f"{block}: no bounds for {', '.join(bare)}", span, "they are recorded")
    return bound


def _report_strangers(
    block: str, strangers: list[str], known: list[str], thresholds: Thresholds, found: Diagnostics
) -> None:
    """An entry whose name is near a configured one is reported by itself, the others together."""
    far = [name for name in strangers if nearest(name, known) is None]
    for name in strangers:
        if name not in far:
            span = thresholds.document.span((*thresholds.base, block, name), key=True)
            found.warning("A818", f'{block}: no "{name}" is configured', span, did_you_mean(name, known))
    if far:
        span = thresholds.document.span((*thresholds.base, block, far[0]), key=True)
        hint = f"configured: {', '.join(known)}" if known else "none is configured"
        found.warning("A818", f"{block}: not configured: {', '.join(far)}", span, hint)


def _table(kind: Block, thresholds: Thresholds, reader: SpecReader) -> BoundTable:
    return reader.read_at(thresholds, (*thresholds.base, kind.value), kind)


def _check_filters(accuracy: Mapping[str, BoundTable], found: Diagnostics) -> None:
    for table in accuracy.values():
        for index, spec in enumerate(table.specs):
            if "__" not in spec.metric:
                hint = f"write {spec.metric}__FILTER, for example __flexible-extract or __none"
                found.warning("A820", f"{spec.metric} names no filter", table.span(index), hint)
