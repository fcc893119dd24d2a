"""Diagnostics for people and machines: one module per format, all from the same values."""
