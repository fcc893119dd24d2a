"""Codes of the dialects and profiles: A211 to A219."""

from __future__ import annotations

from .entry import Entry

__all__ = ["ENTRIES"]

ENTRIES = (
    Entry(
        "A211",
        "A known key has no effect",
        "The serving dialect carries keys that other tools read. They are accepted, and this note says that nothing "
        "here depends on them.",
        '{"server_params": {"max_concurrency": "256"}}',
        "{}",
    ),
    Entry(
        "A212",
        "The framework is another suite's",
        "The key framework names the suite that a config belongs to. This compiler knows the atom suite.",
        '{"framework": "sglang_disagg"}',
        '{"framework": "atom"}',
    ),
    Entry(
        "A213",
        "schema_version contradicts the shape",
        "A file with profiles has schema_version 2, any other has 1. One of the two statements is wrong, and guessing "
        "which would run the wrong job.",
        '{"schema_version": 2, "params": {}}',
        '{"schema_version": 1, "params": {}}',
    ),
    Entry(
        "A214",
        "There is no such profile",
        "The profile that was asked for does not stand in the file. A file without profiles has the one profile perf.",
        "atomcfg plan config.json --config_profile mtp",
        "atomcfg plan config.json --config_profile mtp3",
    ),
    Entry(
        "A215",
        "No profile is chosen",
        "Several profiles, none called perf, and neither an option nor default_profile says which.",
        '{"profiles": {"fast": {}, "slow": {}}}',
        '{"default_profile": "fast", "profiles": {"fast": {}, "slow": {}}}',
    ),
    Entry(
        "A216",
        "A profile from the environment is ignored",
        "CVS_CONFIG_PROFILE is set, but this file has no profiles. A variable that was exported last week must not stop "
        "a run that does not use it.",
        "CVS_CONFIG_PROFILE=mtp3 atomcfg plan flat.json",
        "atomcfg plan flat.json",
    ),
    Entry(
        "A217",
        "There is no gpu_arch",
        "Bounds and a few engine settings depend on the GPU family. It comes from the key gpu_arch, or from the file "
        "name's part before _atom_.",
        "my_config.json",
        "mi300x_atom_my-model_fp8_single.json",
    ),
)
