"""The drivers, and what leads to one when a configuration does not name it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from types import MappingProxyType

from .base import Driver

__all__ = ["DRIVERS", "DRIVER_BY_ARGUMENT", "SERVING_ARGUMENTS", "SERVING_BACKENDS"]

# Name -> module and the driver in it.
_PLACES = {
    "atom": ("atom", "DRIVER"),
    "vllm_atom": ("vllm", "VLLM_ATOM"),
    "vllm": ("vllm", "VLLM"),
    "sglang": ("sglang", "DRIVER"),
}


class _Drivers(Mapping[str, Driver]):
    """Drivers by name, imported when asked for: a configuration uses one, and each has long flag tables."""

    def __getitem__(self, name: str) -> Driver:
        module, attribute = _PLACES[name]
        driver = getattr(import_module(f"{__name__}.{module}"), attribute)
        assert isinstance(driver, Driver)
        return driver

    def __iter__(self) -> Iterator[str]:
        return iter(_PLACES)

    def __len__(self) -> int:
        return len(_PLACES)


DRIVERS: Mapping[str, Driver] = _Drivers()

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
