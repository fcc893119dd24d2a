"""The client command of every cell: written once by the driver, with holes that each cell fills."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from atomcfg.drivers.base import WARMUPS_PER_REQUEST, ClientRequest, Driver
from atomcfg.model import Settings
from atomcfg.passes.states import PlannedCell
from atomcfg.plan import Artifact
from atomcfg.tokens import Binding, Hole, Template, Token, bind, template

from .commands import flatten, folder, merged_env
from .trace import Trace

__all__ = ["CellClient", "Clients"]

# Holes that never reach a plan: each cell fills them here.
_NAMES = ("cell.isl", "cell.osl", "cell.concurrency", "cell.warmups", "cell.seed", "cell.folder")
_ISL, _OSL, _CONCURRENCY, _WARMUPS, _SEED, _FOLDER = (Template((Binding(name),)) for name in _NAMES)


@frozen(eq=False, repr=False)
class CellClient:
    """How one cell is measured, and where its result will be."""

    argv: tuple[Token, ...]
    artifact: Artifact


@frozen(eq=False, repr=False)
class _Pattern:
    """An argv, and which of its words hold a hole of the cell."""

    argv: tuple[Token, ...]
    holes: tuple[tuple[int, Template], ...]


class Clients:
    """The client commands of a sweep; `env` is the environment of each."""

    def __init__(self, settings: Settings, driver: Driver, percentiles: str, trace: Trace) -> None:
        self._settings, self._driver, self._percentiles, self._trace = settings, driver, percentiles, trace
        self._patterns: dict[tuple[tuple[str, float], ...], _Pattern] = {}
        self._artifact = driver.artifact(settings)
        env = merged_env(settings, driver.client_env(settings))
        trace.env("client env", env)
        self.env = tuple(entry.var for entry in env)

    def of(self, cell: PlannedCell, seed: int) -> CellClient:
        """The command of one cell."""
        run = cell.run
        pattern = self._patterns.get(run.combo.goodput_slo) or self._write(run.combo.goodput_slo)
        place, level = folder(cell.id), run.concurrency
        numbers = map(str, (run.combo.isl, run.combo.osl, level, WARMUPS_PER_REQUEST * level, seed))
        values = dict(zip(_NAMES, (*numbers, place), strict=True))
        directory = Template((_RUN_DIR, f"/cells/{place}/", _ATTEMPT))
        argv = list(pattern.argv)
        for index, word in pattern.holes:
            argv[index] = directory if word is _DIRECTORY else _filled(word, values)
        return CellClient(tuple(argv), Artifact(directory, *self._artifact))

    def _write(self, goodput: tuple[tuple[str, float], ...]) -> _Pattern:
        request = ClientRequest(_ISL, _OSL, _CONCURRENCY, _WARMUPS, _SEED, self._percentiles, _DIRECTORY, goodput)
        args = self._driver.client(self._settings, request)
        self._trace.argv("client argv", args)
        argv = flatten(args)
        holes = tuple(
            (place, word) for place, word in enumerate(argv) if isinstance(word, Template) and _is_open(word)
        )
        return self._patterns.setdefault(goodput, _Pattern(argv, holes))


_RUN_DIR, _ATTEMPT = bind(Hole.RUN_DIR), bind(Hole.ATTEMPT)
_DIRECTORY = Template((_RUN_DIR, "/cells/", Binding("cell.folder"), "/", _ATTEMPT))


def _is_open(word: Template) -> bool:
    return any(isinstance(part, Binding) and part.name in _NAMES for part in word.parts)


def _filled(word: Template, values: Mapping[str, str]) -> Token:
    if len(word.parts) == 1:
        return values[word.parts[0].name]  # type: ignore[union-attr]  # a template is never text alone
    return template(*(values.get(part.name, part) if isinstance(part, Binding) else part for part in word.parts))
