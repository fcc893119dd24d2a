"""What vLLM does to a command line before argparse sees it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from standin.dialect import Json
from standin.flags import fold_underscores

__all__ = ["FlexibleParser", "prepare"]


class FlexibleParser(argparse.ArgumentParser):
    """Plain `--help` is a summary; `--help=all` the whole list, `--help=WORD` what matches."""

    search: str | None = None

    def format_help(self) -> str:
        if self.search == "all":
            return super().format_help()
        if self.search is None:
            return (
                f"{self.format_usage()}\n{self.description}\n\nFor full list:            {self.prog} --help=all\n"
            )
        found = [name for action in self._actions for name in action.option_strings if self.search in name]
        return "".join(f"  {name}\n" for name in found) or f"No group or arguments matching '{self.search}'.\n"


def prepare(parser: FlexibleParser, argv: Sequence[str]) -> list[str]:
    """`_` for `-`, `-O3`, `--help=WORD` and `--json-flag.key value`, in argparse's words."""
    plain: list[str] = []
    nested: dict[str, dict[str, Json]] = {}
    tokens = iter(fold_underscores(argv))
    for token in tokens:
        name, equals, value = token.partition("=")
        if token.startswith("--help="):
            parser.search = value.lower().replace("_", "-")
            plain.append("--help")
        elif token.startswith("-O") and not token.startswith("--"):
            plain += ["--optimization-level", token[2:].lstrip("=") or next(tokens, "")]
        elif name.startswith("--") and "." in name:
            flag, *path = name.split(".")
            _put(nested.setdefault(flag, {}), path, value if equals else next(tokens, ""))
        else:
            plain.append(token)
    return plain + [text for flag, tree in nested.items() for text in (flag, json.dumps(tree))]


def _put(tree: dict[str, Json], path: Sequence[str], text: str) -> None:
    *parents, leaf = path
    for key in parents:
        tree = tree.setdefault(key, {})
    try:
        tree[leaf] = json.loads(text)
    except ValueError:
        tree[leaf] = text
