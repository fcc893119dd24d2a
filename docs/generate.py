"""Write `docs/language.md` and `docs/diagnostics.md` from the schemas, the metrics and the catalogue.

python docs/generate.py
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from atomcfg.catalogue import CATALOGUE, Entry
from atomcfg.documents import JsonPath
from atomcfg.metrics import GATED, METRICS
from atomcfg.schemawalk import default_at, description_at, keys_at, type_at, values_at

FOLDER = Path(__file__).parent
GENERATED = "<!-- Written by docs/generate.py; change that, or what it reads. -->\n"
CELL = "ISL=1,OSL=1,TP=1,PP=1,CONC=1"
# Objects whose keys are free: a key that stands for them, and how it is shown.
FREE: dict[tuple[str, JsonPath], tuple[str, str]] = {
    ("config-profiles", ("profiles",)): ("perf", "NAME"),
    ("threshold", ()): (CELL, "CELL"),
    ("threshold", (CELL,)): ("metric", "METRIC"),
    ("threshold", ("accuracy",)): ("task", "TASK"),
    ("threshold", ("long_context_accuracy",)): ("needle", "NEEDLE"),
    ("threshold", ("profiles",)): ("perf", "NAME"),
    ("cluster", ("node_dict",)): ("10.0.0.1", "ADDRESS"),
    ("lab", ("per_config",)): ("stem", "STEM"),
}
# Described once, where they stand first.
ELSEWHERE = {("config-profiles", "profiles.NAME."), ("threshold", "profiles.NAME."), ("lab", "per_config.STEM.")}
SECTIONS = (
    (
        "config-flat",
        "Config, flat",
        "One job. A file without `profiles`, `server_params`, `benchmark_params` is flat; its profile is `perf`.",
    ),
    (
        "config-profiles",
        "Config, with profiles",
        "Several jobs in one file, told by the object `profiles`. A profile is laid over the top level: objects "
        "merge key by key, lists and single values replace. Beyond the keys of a flat config:",
    ),
    (
        "config-serving",
        "Config, serving",
        "What CVS's serving suites use, told by `server_params` or `benchmark_params`. It becomes a flat config; "
        "the blocks that it shares with one are described there.",
    ),
    (
        "threshold",
        "Thresholds",
        "Bounds for cells and checks. A cell key names a cell by what it measures, such as "
        "`ISL=1024,OSL=1024,TP=8,PP=1,CONC=128`: input and output length, tensor and pipeline parallel size, "
        "concurrency. Order, case and spaces of a key do not matter; a key without PP means PP=1.",
    ),
    (
        "cluster",
        "Cluster file",
        "The nodes and how to reach them, as CVS writes it. Its `container` is that of a config, which wins.",
    ),
    (
        "lab",
        "Lab file",
        "TOML: what a lab must supply, kept out of the shipped files. It is `lab.toml` beside the config, or what "
        "`--lab` names; `--set` beats it. `atomcfg init` writes one.",
    ),
)
HEAD = """\
# The language

What `atomcfg` reads: configs, threshold files, cluster files (JSON) and lab files (TOML). The tables are made from
`schemas/`, which is what every document is checked against; `docs/editor.md` says how an editor uses them.

- JSON is UTF-8, without comments, trailing commas, `NaN` or duplicate keys. A key that starts with `_` is a
  comment, at any depth.
- An unknown key is an error, and the nearest known one is named.
- A whole number may also be written as text: `8` or `"8"`. A flag is `true`, `false`, or these words as text.
- `{user-id}` is the cluster file's `username`. `{shared_fs}` and the other keys of `paths` stand for each other
  within `paths`; `{paths.models_dir}` and its like stand anywhere.
- `<...>`, `{head-node-ip}` and `{worker-node-ip}` stand for what a lab must supply, in a lab file or with `--set`.
"""


def documents() -> dict[str, str]:
    """The generated documents by name."""
    return {"language.md": language(), "diagnostics.md": diagnostics()}


def language() -> str:
    """What may be written where. A row that one kind of config shares with an earlier one is not repeated."""
    parts = [GENERATED, HEAD]
    shown: set[str] = set()
    for schema, title, about in SECTIONS:
        rows = [row for row in table(schema) if row not in shown]
        shown |= set(rows) if schema.startswith("config-") else set()
        head = "| key | value | default | meaning |\n|---|---|---|---|\n"
        parts.append(f"## {title}\n\n{about}\n\n{head}" + "\n".join(rows))
    parts += [metrics(), checked()]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def table(schema: str) -> list[str]:
    """A row for each key of a document."""
    return [
        f"| `{shown}` | {value(schema, path)} | {default(schema, path)} | {cell(description_at(schema, path))} |"
        for shown, path in places(schema, (), "")
    ]


def places(schema: str, path: JsonPath, prefix: str) -> Iterator[tuple[str, JsonPath]]:
    """Every described place below `path`: how it is shown, and its path."""
    if (schema, prefix) in ELSEWHERE:
        return
    names = {name: name for name in keys_at(schema, path) if name != "$schema" and name not in METRICS}
    free = FREE.get((schema, path))
    if free:
        names[free[0]] = free[1]
    for name, shown in names.items():
        inner = (*path, name)
        yield prefix + shown, inner
        yield from places(schema, inner, f"{prefix}{shown}.")
        if keys_at(schema, (*inner, 0)):
            yield from places(schema, (*inner, 0), f"{prefix}{shown}[].")


def value(schema: str, path: JsonPath) -> str:
    """What may stand there: the listed values (not their other spellings), else a kind in words."""
    spelt = ("true", "false", "yes", "no")
    listed = [item for item in values_at(schema, path) if not (str(item).isdigit() and isinstance(item, str))]
    words = [f"`{json.dumps(item)}`" for item in listed if item not in spelt]
    return ", ".join(dict.fromkeys(words)) or cell(type_at(schema, path)).replace(" without control characters", "")


def default(schema: str, path: JsonPath) -> str:
    found = default_at(schema, path)
    return "" if found is None else f"`{json.dumps(found)}`"


def cell(text: str) -> str:
    """Text that Markdown shows as it is."""
    return re.sub(r"[|*]|(?<!\w)_|_(?!\w)", r"\\\g<0>", text).replace("<", "&lt;")


def metrics() -> str:
    rows = [
        f"| `{each.name}` | {each.unit} | {each.direction} | {each.tier} | {'yes' if each.name in GATED else ''} |"
        for each in METRICS.values()
    ]
    about = (
        "A bound names one of these. *Gated* ones need a spec in each cell when thresholds are enforced. Accuracy "
        "metrics are named by lm-eval, `TASK.METRIC__FILTER`; a needle's is `accuracy.niah_pass_rate__ID`. "
        "`client.NAME` is read as `NAME`."
    )
    head = "| metric | unit | better | tier | gated |\n|---|---|---|---|---|\n"
    return f"## Metrics\n\n{about}\n\n{head}" + "\n".join(rows)


def checked() -> str:
    rows = [f"| `{entry.code}` | {cell(entry.title)} |" for entry in CATALOGUE.values()]
    about = "`docs/diagnostics.md` has each with its reason and examples; so has `atomcfg explain CODE`."
    return f"## What is checked\n\n{about}\n\n| code | title |\n|---|---|\n" + "\n".join(rows)


def diagnostics() -> str:
    parts = [
        GENERATED,
        "# Diagnostics\n\nEvery code that `atomcfg` reports. The same text is printed by `atomcfg explain CODE`.\n",
    ]
    group = ""
    for entry, heading in grouped():
        if heading != group:
            parts.append(f"## {heading}")
            group = heading
        parts.append(f"### {entry.code}: {cell(entry.title)}\n\n{cell(entry.why)}")
        parts += [f"{word}:\n\n```text\n{text}\n```" for word, text in (("Bad", entry.bad), ("Good", entry.good))]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def grouped() -> Iterator[tuple[Entry, str]]:
    """Every entry with what its module says of itself."""
    names = sorted(path.stem for path in (FOLDER.parent / "src/atomcfg/catalogue").glob("*.py"))
    of = {}
    for name in names:
        module = import_module(f"atomcfg.catalogue.{name}") if name != "__init__" else None
        for entry in getattr(module, "ENTRIES", ()):
            said = (module.__doc__ or "").split(".")[0]
            of[entry.code] = said
    for entry in CATALOGUE.values():
        yield entry, of[entry.code]


if __name__ == "__main__":
    for name, text in documents().items():
        (FOLDER / name).write_text(text, "utf-8")
