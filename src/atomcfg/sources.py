"""What a compilation is given: texts and facts, never files."""

from __future__ import annotations

from attrs import field, frozen

from .documents import Source

__all__ = ["Options", "Sources"]


@frozen(eq=False, repr=False)
class Sources:
    """The input texts. `thresholds` are the threshold files that could be read, by the name that reaches them from
    the config's folder; `siblings` are the names of all `*threshold.json` beside the config."""

    config: Source
    cluster: Source | None = None
    lab: Source | None = None
    thresholds: tuple[Source, ...] = ()
    siblings: tuple[str, ...] = ()


@frozen(eq=False, repr=False)
class Options:
    """Facts and wishes from outside the files.

    `profile` comes from an option, `environment_profile` from `CVS_CONFIG_PROFILE`; `overrides` are `--set`
    paths and JSON values, in order; `user` is the local user's name. In a dry run, what a lab must
    still supply is a warning. `every_profile` only checks: faults of profiles that were not chosen are errors
    too, and there is no plan.
    """

    profile: str | None = None
    environment_profile: str | None = None
    overrides: tuple[tuple[str, object], ...] = field(default=())
    user: str = ""
    dry_run: bool = False
    every_profile: bool = False
