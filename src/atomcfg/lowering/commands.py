"""Small pieces of every command: flat argv, merged environment, safe folder names."""

from __future__ import annotations

import re
from collections.abc import Iterable

from atomcfg.drivers.base import Arg, EnvEntry
from atomcfg.drivers.environment import user_env
from atomcfg.model import Settings
from atomcfg.plan import EnvVar
from atomcfg.tokens import Token

__all__ = ["flatten", "folder", "merged_env"]

_ODD = re.compile(r"[^A-Za-z0-9_-]")


def flatten(args: Iterable[Arg]) -> tuple[Token, ...]:
    """The tokens of an argv."""
    return tuple(token for arg in args for token in arg.tokens)


def merged_env(settings: Settings, defaults: Iterable[EnvEntry]) -> tuple[EnvEntry, ...]:
    """Driver defaults, then the cluster's `env_vars`, then the user's; sorted, since key order means nothing."""
    entries = {entry.var.name: entry for entry in defaults}
    for name, value in settings.cluster.env_vars.items():
        entries[name] = EnvEntry(EnvVar(name, value), ("cluster.env_vars",))
    entries.update((entry.var.name, entry) for entry in user_env(settings))
    return tuple(entries[name] for name in sorted(entries))


def folder(text: str) -> str:
    """An id as a folder name; what is not plain becomes its code point, so no two ids meet."""
    return _ODD.sub(lambda match: f".{ord(match.group()):x}.", text)
