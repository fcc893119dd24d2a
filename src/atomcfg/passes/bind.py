"""Thresholds become gates: the file is found, its keys matched to cells, each spec checked against its metric."""

from __future__ import annotations

from atomcfg.diagnostics import Checked, Diagnostics
from atomcfg.gates.blocks import bind_blocks
from atomcfg.gates.cells import bind_cells
from atomcfg.gates.choose import choose_thresholds
from atomcfg.gates.coverage import check_coverage
from atomcfg.gates.spec import SpecReader

from .states import Bound, Expanded

__all__ = ["bind"]


def bind(expanded: Expanded) -> Checked[Bound]:
    """Every cell, task and check with the specs that the threshold file writes for it."""
    found = Diagnostics()
    thresholds = choose_thresholds(expanded, found)
    reader = SpecReader(expanded.built.settings.enforce_thresholds, found)
    cells = bind_cells(expanded, thresholds, reader, found)
    blocks = bind_blocks(expanded, thresholds, reader, found)
    reader.report(thresholds)
    if thresholds is not None:
        check_coverage(expanded, cells, thresholds, found)
    bound = Bound(
        expanded=expanded,
        cells=cells.specs,
        accuracy=blocks.accuracy,
        long_context=blocks.long_context,
        mtp_quality=blocks.mtp_quality,
        quant_parity=blocks.quant_parity,
    )
    return Checked.of(bound, found)
