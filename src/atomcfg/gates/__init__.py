"""Thresholds: which file, which specs for which cell, and whether they can do their work."""
