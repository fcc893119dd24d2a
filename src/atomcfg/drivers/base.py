"""What a driver is: one module that fills this record. Nothing else may know a driver by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import frozen

from atomcfg.diagnostics import Diagnostics
from atomcfg.documents import JsonPath
from atomcfg.model import Run, Settings
from atomcfg.plan import EnvVar
from atomcfg.tokens import Token
from atomcfg.value import Value

__all__ = ["WARMUPS_PER_REQUEST", "Arg", "ClientRequest", "Driver", "EnvEntry", "LengthRange"]

WARMUPS_PER_REQUEST = 2  # for each request in flight, as CVS asks for them


@frozen(eq=False, repr=False)
class Arg(Value):
    """One flag with its values, or one word, of an argv; `sources` are the configuration paths it came from
    (`params.max_model_length`, `roles.server.atom_args[3]`), empty for a constant of the driver."""

    tokens: tuple[Token, ...]
    sources: tuple[str, ...] = ()


@frozen(eq=False, repr=False)
class EnvEntry:
    """One environment entry and the configuration paths it came from."""

    var: EnvVar
    sources: tuple[str, ...] = ()


@frozen(eq=False, repr=False)
class LengthRange:
    """Tokens per request that the client may draw, inclusive."""

    low: int
    high: int


@frozen(eq=False, repr=False)
class ClientRequest:
    """What a driver needs to write a client command: for one cell, or for many, with holes where they differ."""

    isl: Token
    osl: Token
    concurrency: Token
    warmups: Token  # requests before the measurement, for a client that takes their number
    seed: Token
    percentiles: str  # asked for: stated or gated, plus what the client itself needs
    result_dir: Token
    goodput: tuple[tuple[str, float], ...]
    place: JsonPath = ("sweep",)  # what states the cell, or all of them

    @classmethod
    def of(cls, run: Run, seed: int, percentiles: str, result_dir: Token) -> ClientRequest:
        """The request of one cell."""
        combo, level = run.combo, run.concurrency
        return cls(
            isl=str(combo.isl),
            osl=str(combo.osl),
            concurrency=str(level),
            warmups=str(WARMUPS_PER_REQUEST * level),
            seed=str(seed),
            percentiles=percentiles,
            result_dir=result_dir,
            goodput=combo.goodput_slo,
            place=run.path,
        )


def _never(_settings: Settings) -> bool:
    return False


@frozen(eq=False, repr=False)
class Driver:
    """Pure functions from settings to argv and environment, and the facts that checks need.

    `check` reports what is wrong in the user's arguments: flags of ours with another value, flags of another
    driver, `--x` with `--no-x`, enum values the engine does not know.
    """

    name: str
    arguments: str  # the key of roles.server it reads: atom_args | serve_args | sglang_args
    check: Callable[[Settings, Diagnostics], None]
    server: Callable[[Settings, int], tuple[Arg, ...]]  # settings, rank
    server_env: Callable[[Settings, int], tuple[EnvEntry, ...]]  # defaults and per-rank; user's env is added later
    client: Callable[[Settings, ClientRequest], tuple[Arg, ...]]
    client_env: Callable[[Settings], tuple[EnvEntry, ...]]
    artifact: Callable[[Settings], tuple[str, str]]  # file name, format
    lengths: Callable[[int, float], LengthRange]  # length, range ratio
    percentiles: Callable[[Settings, frozenset[str]], str]  # settings, gated percentile numbers
    produces: Callable[[Settings, str], bool]  # can its client report this metric, with these settings
    unused: Callable[[Settings], Mapping[str, str]]  # params with no effect here -> why
    data_parallel: Callable[[Settings], int]
    speculative: Callable[[Settings], bool]  # the server's flags ask for MTP / speculative decoding
    health_path: str
    strict_length: bool  # ISL+OSL must be below max length, not equal
    multinode_is_pipeline: bool  # nnodes > 1 needs pipeline_parallel_size > 1
    arguments_required: bool = False  # the key of roles.server must be there, if only as an empty list
    own_multinode: Callable[[Settings], bool] = _never  # several nodes without pipeline parallelism
