"""`atomcfg init DIR STEM...`: shipped configs as folders of one's own."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from atomcfg.cli.shipped import Example, examples, examples_folder
from atomcfg.documents import Source
from atomcfg.schemas import schema_names, schema_text
from atomcfg.shell import quoted
from atomcfg.starter import SCHEMAS, Starter, starter
from atomcfg.suggest import did_you_mean

from .folder import write_new
from .output import complain

__all__ = ["run_init"]

_CLUSTER = "atom_cluster.json"


def run_init(args: argparse.Namespace) -> int:
    """Exit status: 0, 2 for an unknown stem, or where a file exists."""
    known = {example.stem: example for example in examples()}
    stems = list(dict.fromkeys(stem.removesuffix(".json") for stem in args.stems))
    unknown = next((stem for stem in stems if stem not in known), None)
    if unknown is not None:
        return complain(
            f'no shipped config is called "{unknown}"', did_you_mean(unknown, known) or "see atomcfg list"
        )
    folder = Path(args.folder)
    made = {stem: _starter(known[stem]) for stem in stems}
    texts = {f"{stem}/{name}": text for stem, files in made.items() for name, text in files.texts.items()}
    status = write_new(folder, texts | _schemas(folder))
    if status == 0:
        sys.stdout.write("\n".join(_told(folder / stem, stem, files) for stem, files in made.items()))
    return status


def _starter(example: Example) -> Starter:
    shipped = examples_folder()
    config, thresholds, cluster = (
        Source(role, name, (shipped / name).read_bytes())
        for role, name in (
            ("config", f"{example.stem}.json"),
            ("threshold", example.threshold),
            ("cluster", _CLUSTER),
        )
    )
    return starter(config, thresholds, cluster, example.nnodes)


def _schemas(folder: Path) -> dict[str, str]:
    """The schemas for editors, as far as the folder has none yet."""
    files = {f"{SCHEMAS}/{name}.schema.json": schema_text(name) for name in schema_names()}
    return {name: text for name, text in files.items() if not (folder / name).exists()}


def _told(folder: Path, stem: str, files: Starter) -> str:
    plan = str(folder / "plan.json")
    config, cluster = str(folder / f"{stem}.json"), str(folder / "cluster.json")
    compile_it = quoted(["atomcfg", "plan", config, "--cluster", cluster, "-o", plan])
    asked = f"fill in {folder / 'lab.toml'} ({', '.join(files.asked)}), then\n" if files.asked else ""
    return f"{folder}: {', '.join(files.texts)}\n{asked}  {compile_it}\n  {quoted(['atomrun', 'execute', plan])}\n"
