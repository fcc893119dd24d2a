"""Older CVS files to this language: flat per-variant stems, `client.` names, keys without PP or with NNODES or DP.

Texts in, texts out: nothing is read or written here.
"""

from __future__ import annotations

from .migrate import Migration, Written, migrate

__all__ = ["Migration", "Written", "migrate"]
