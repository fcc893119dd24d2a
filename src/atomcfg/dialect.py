"""The three dialects, told apart by their shape."""

from __future__ import annotations

__all__ = ["FLAT", "PROFILES", "SERVING", "dialect_of"]

FLAT, PROFILES, SERVING = "flat", "profiles", "serving"
_SERVING_KEYS = ("server_params", "benchmark_params")


def dialect_of(value: object) -> str:
    """`profiles` has an object of that name, `serving` has `server_params` or `benchmark_params`, else `flat`."""
    if isinstance(value, dict):
        if isinstance(value.get("profiles"), dict):
            return PROFILES
        if any(key in value for key in _SERVING_KEYS):
            return SERVING
    return FLAT
