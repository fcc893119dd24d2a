"""Where every configuration value came from, and what it became."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from atomcfg.defaults import PARAMS
from atomcfg.diagnostics import Diagnostics
from atomcfg.documents import Document, JsonPath, dotted
from atomcfg.drivers.base import Arg, EnvEntry
from atomcfg.model import Settings
from atomcfg.plan import TraceEntry
from atomcfg.tokens import fill
from atomcfg.values import as_text

__all__ = ["Trace"]

# What values become that never stand in an argv or an environment: by their path, or by that of a block.
_EFFECTS: Mapping[str, str] = {
    "schema_version": "dialect",
    "framework": "dialect",
    "gpu_arch": "plan gpu_arch",
    "enforce_thresholds": "whether gates are enforced",
    "threshold_json": "which thresholds",
    "threshold_profile": "which thresholds",
    "paths.shared_fs": "paths",
    "paths.log_dir": "run directory on the nodes",
    **dict.fromkeys(("model.id", "model.remote", "model.precision"), "model stage"),
    "container": "container",
    "params.driver": "driver",
    "params.server_precheck_wait_s": "server deadline",
    "params.server_warmup_wait_s": "server deadline",
    "params.server_poll_count": "server deadline",
    "params.server_poll_wait_time": "server deadline",
    "params.client_initial_wait_s": "client deadline",
    "params.client_poll_count": "client deadline",
    "params.client_poll_wait_time": "client deadline",
    "params.nnodes": "number of ranks",
    "params.reuse_server_across_sweep": "sessions",
    "params.bench_max_failed_requests": "validity of cells",
    "params.scaling_baseline_output_throughput": "scaling.efficiency_pct",
    "params.tensor_parallelism": "cell keys, GPU count",
    "params.pipeline_parallel_size": "cell keys, GPU count",
    "sweep": "cells",
    **dict.fromkeys(("functional", "platform", "mtp_quality", "quant_parity"), "checks"),
    **dict.fromkeys(("long_context_accuracy", "accuracy"), "checks"),
    "roles.server.ib_hca_devices": "fabric",
    "roles.server.ib_netdev": "fabric",
    "roles.server.memory_fraction": "server argv, unless the arguments give it",
    "roles.server.log_level": "server argv, unless the arguments give it",
    "run_card": "reports",
}
_DEFAULTED = ("roles", "server", "serve_args")  # what is null or false there leaves a default out
_FABRIC = ("roles.server.ib_hca_devices", "roles.server.ib_netdev")
_SHOWN = 200  # characters of a value


class Trace:
    """Collects uses while commands are written."""

    def __init__(self, settings: Settings) -> None:
        self._document = settings.document
        self._values = tuple(_leaves(settings.document.value, ()))
        self._alone = settings.params.nnodes == 1  # then there is no fabric
        self._uses: dict[str, dict[str, None]] = {}

    def use(self, path: str, what: str) -> None:
        """The value at a dotted path became `what`."""
        self._uses.setdefault(path.split("[", 1)[0] if path.endswith("]") else path, {})[what] = None

    def argv(self, command: str, args: Iterable[Arg]) -> None:
        """Words of an argv that name their sources."""
        for arg in args:
            for source in arg.sources:
                if not source.startswith("sweep."):
                    self.use(source, f"{command} {fill(arg.tokens[0], unknown=str)}")

    def env(self, where: str, entries: Iterable[EnvEntry]) -> None:
        """Environment entries that name their sources."""
        for entry in entries:
            for source in entry.sources:
                self.use(source, f"{where} {entry.var.name}")

    def gates(self, owner: str, count: int) -> None:
        """The specs of a cell or task: traced as a count, since a sweep may hold very many."""
        if count:
            self.use("threshold_json", f"{count} gates of {owner}")

    def entries(self) -> tuple[TraceEntry, ...]:
        """One entry per value of the flat configuration, and one per parameter that took its default."""
        document = self._document
        found = [
            TraceEntry(dotted(path), json.dumps(value), _source(document, path), self._used(path, value))
            for path, value in self._values
        ]
        found += [
            TraceEntry(f"params.{name}", json.dumps(default), "default", self._used(("params", name)))
            for name, (_, default) in PARAMS.items()
            if document.get("params", name) is None and default is not None
        ]
        return tuple(found)

    def _used(self, path: JsonPath, value: object = None) -> tuple[str, ...]:
        uses: dict[str, None] = {}
        blocks = [dotted(path[:cut]) for cut in range(len(path), 0, -1)]
        for block in blocks:
            uses.update(self._uses.get(block, {}))
        if not (self._alone and value != "auto" and blocks[0].partition("[")[0] in _FABRIC):
            effects = [_EFFECTS[block] for block in blocks if block in _EFFECTS]
            if len(path) > len(_DEFAULTED) and path[: len(_DEFAULTED)] == _DEFAULTED:
                effects.append("server argv, or a default of it left out")
            uses.update(dict.fromkeys(effects[:1]))
        shown = tuple(uses)
        return shown if len(shown) <= 8 else (*shown[:7], f"and {len(shown) - 7} more")

    def report_unused(self, reasons: Mapping[str, str], found: Diagnostics) -> None:
        """A value that a file gave and that reaches nothing with this driver is a warning."""
        for path, value in self._values:
            text = dotted(path)
            name = text.removeprefix("params.")
            if value == [] or (path[:1] == ("params",) and _is_default(name, value)):
                continue
            if path[:1] == ("params",) and name in reasons:
                span, called = self._document.span(path, key=True), self._document.called(*path)
                found.warning("A420", f"{called} has no effect: {reasons[name]}", span, "remove it")
            elif not self._used(path, value) and self._document.origin(path).name != "default":
                span = self._document.span(path, key=True)
                found.warning("A420", f"{self._document.called(*path)} has no effect here", span, "remove it")


def _is_default(name: str, value: object) -> bool:
    return name in PARAMS and as_text(value) == as_text(PARAMS[name][1])


def _source(document: Document, path: JsonPath) -> str:
    origin = document.origin(path)
    if not origin.is_file:
        return origin.name
    return f"{origin.name}:{document.span(path).line}"


def _leaves(value: object, path: JsonPath) -> Iterator[tuple[JsonPath, object]]:
    """Every value of the configuration; the members of a list of objects count as one, argument words do not."""
    if isinstance(value, dict):
        for key, item in value.items():
            if not key.startswith("_"):
                yield from _leaves(item, (*path, key))
    elif not (path and path[0] == "$schema"):
        yield path, _shown(value)


def _shown(value: object) -> object:
    """A value, unless it is too long to show; each item of a list takes two characters at least."""
    if isinstance(value, list):
        return value if len(value) <= _SHOWN // 2 and len(json.dumps(value)) <= _SHOWN else f"{len(value)} items"
    return value if len(json.dumps(value)) <= _SHOWN else "..."
