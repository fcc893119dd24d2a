"""Compile ATOM / vLLM / SGLang benchmark configurations into an immutable run plan.

The library is pure: texts in, plan and diagnostics out. It opens no file, socket or process and reads no clock and
no environment.

>>> import atomcfg
>>> config = atomcfg.Source("config", "mi300x_atom_x.json", b"[]")
>>> result = atomcfg.compile(atomcfg.Sources(config))
>>> result.plan is None, result.diagnostics[0].summary
(True, 'expected an object at top level, found an array')
"""

from __future__ import annotations

from ._version import __version__

TYPE_CHECKING = False  # as `typing` says it, whose import would take longer than all else here
if TYPE_CHECKING:
    from collections.abc import Mapping

    from .compiler import Result
    from .diagnostics import Diagnostic, Severity
    from .documents import Source
    from .plan import Plan
    from .planio import PlanError, dump_plan, load_plan
    from .sources import Sources

__all__ = [
    "Diagnostic", "Plan", "PlanError", "Result", "Severity", "Source", "Sources", "__version__", "compile",
    "dump_plan", "load_plan",
]  # fmt: skip


# Where each name is defined. A module is imported when one of its names is first used.
_PLACES = {
    "Diagnostic": "diagnostics",
    "Plan": "plan",
    "PlanError": "planio",
    "Result": "compiler",
    "Severity": "diagnostics",
    "Source": "documents",
    "Sources": "sources",
    "dump_plan": "planio",
    "load_plan": "planio",
}


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def compile(  # noqa: A001  # the verb of the domain; used as atomcfg.compile
    sources: Sources,
    *,
    profile: str | None = None,
    overrides: Mapping[str, object] | None = None,
    user: str = "",
    environment_profile: str | None = None,
    dry_run: bool = False,
) -> Result:
    """Compile one config. `overrides` are configuration paths and JSON values, as `--set` takes them.

    In a dry run, what a lab must still supply is a warning, and the plan lists it as `unresolved`. Never raises for
    anything that the texts hold.
    """
    from .compiler import compile_sources
    from .sources import Options

    options = Options(
        profile=profile,
        environment_profile=environment_profile,
        overrides=tuple((overrides or {}).items()),
        user=user,
        dry_run=dry_run,
    )
    return compile_sources(sources, options)
