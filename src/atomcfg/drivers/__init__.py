"""The drivers, and what leads to one when a configuration does not name it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from . import atom, sglang, vllm
from .base import Driver

__all__ = ["DRIVERS", "DRIVER_BY_ARGUMENT", "SERVING_ARGUMENTS", "SERVING_BACKENDS"]

DRIVERS: Mapping[str, Driver] = MappingProxyType(
    {
        "atom": atom.DRIVER,
        "vllm_atom": vllm.VLLM_ATOM,
        "vllm": vllm.VLLM,
        "sglang": sglang.DRIVER,
    }
)

# A key of roles.server -> the driver it stands for when params.driver is absent.
DRIVER_BY_ARGUMENT: Mapping[str, str] = MappingProxyType(
    {"atom_args": "atom", "serve_args": "vllm", "sglang_args": "sglang"}
)

# The serving dialect: server_params.backend -> driver, and its names of the arguments -> those of roles.server.
SERVING_BACKENDS: Mapping[str, str] = MappingProxyType(
    {"atom": "atom", "vllm": "vllm_atom", "vllm_atom": "vllm_atom", "sglang": "sglang"}
)
SERVING_ARGUMENTS: Mapping[str, str] = MappingProxyType(
    {"atom_args": "atom_args", "serve_args": "serve_args", "add_flags": "sglang_args"}
)
