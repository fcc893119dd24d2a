"""Runs side by side: what is compared, how it is joined, what is refused. No comparison changes a verdict."""

from .compare import Comparison, Refusal, compare
from .differences import ENVIRONMENT, Difference
from .panels import Panel, PanelStatus, accuracy_prev_run, framework_parity, prev_run
from .rows import Change
from .sheet import Sheet, SheetError, load_sheet, sheet_of

__all__ = [
    "ENVIRONMENT", "Change", "Comparison", "Difference", "Panel", "PanelStatus", "Refusal", "Sheet", "SheetError",
    "accuracy_prev_run", "compare", "framework_parity", "load_sheet", "prev_run", "sheet_of",
]  # fmt: skip
