"""Bounds from runs that were measured: which runs may speak, what bound each metric gets, the file it makes."""

from .bounds import Bound, bounds_of
from .intake import Measured, Unfit, admit
from .thresholds import thresholds_text, warnings_of

__all__ = ["Bound", "Measured", "Unfit", "admit", "bounds_of", "thresholds_text", "warnings_of"]
