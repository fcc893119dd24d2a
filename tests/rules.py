"""What a rule about the sources is: a checker over one parsed file, with snippets beside it that it must flag.

The snippets are the proof that a check is alive: `@rule` refuses a checker without one, and the test modules run
every checker over its own snippets as well as over the repository.
"""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from pathlib import Path

from attrs import define, frozen

__all__ = ["ROOT", "Finding", "Module", "Rule", "is_below", "modules", "repository_files", "rule", "snippets"]

ROOT = Path(__file__).resolve().parent.parent
Finding = tuple[int, str]  # line, what is wrong
Snippet = tuple[str, str]  # path it pretends to have, code


@define(slots=False)
class Module:
    """A Python source by its path from the repository's root."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.path)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        return tuple(ast.walk(self.tree))

    @property
    def package(self) -> tuple[str, ...]:
        return tuple(self.path.removeprefix("src/").split("/")[:-1])

    @cached_property
    def imports(self) -> tuple[tuple[int, str], ...]:
        """(line, dotted name): `from a import b` gives `a.b`; relative imports are resolved."""
        found: list[tuple[int, str]] = []
        for node in self.nodes:
            if isinstance(node, ast.Import):
                found += [(node.lineno, alias.name) for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                package = self.package[: len(self.package) - node.level + 1] if node.level else ()
                start = [*package, *([node.module] if node.module else [])]
                found += [(node.lineno, ".".join([*start, alias.name])) for alias in node.names]
        return tuple(found)

    @cached_property
    def calls(self) -> tuple[tuple[int, str, ast.Call], ...]:
        """(line, dotted name of what is called, the call)."""
        found = [(node, dotted(node.func)) for node in self.nodes if isinstance(node, ast.Call)]
        return tuple((node.lineno, name, node) for node, name in found if name)


@frozen
class Rule:
    """A checker; `bad` snippets that it must flag, `good` ones close to them that it must not."""

    check: Callable[[Module], Iterator[Finding]]
    bad: tuple[Snippet, ...]
    good: tuple[Snippet, ...]

    def faults(self, path: str, text: str) -> list[str]:
        return [f"{path}:{line}: {message}" for line, message in self.check(Module(path, text))]

    def faults_in_repository(self) -> list[str]:
        return [f"{each.path}:{line}: {message}" for each in modules() for line, message in self.check(each)]


def rule(
    registry: dict[str, Rule], bad: list[Snippet], good: list[Snippet]
) -> Callable[[Callable[[Module], Iterator[Finding]]], Callable[[Module], Iterator[Finding]]]:
    """Register a checker under its function's name."""
    assert bad, "a check without a negative fixture may be dead"

    def register(check: Callable[[Module], Iterator[Finding]]) -> Callable[[Module], Iterator[Finding]]:
        registry[check.__name__] = Rule(check, tuple(bad), tuple(good))
        return check

    return register


def snippets(registry: dict[str, Rule], kind: str) -> list[tuple[str, str, str]]:
    """(rule, path, code) of every `bad` or `good` snippet: what a parametrised test runs over."""
    return [(name, *each) for name, made in registry.items() for each in getattr(made, kind)]


def dotted(node: ast.expr) -> str:
    """`a.b.c` for a name or an attribute of one, else an empty string."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        start = dotted(node.value)
        return f"{start}.{node.attr}" if start else ""
    return ""


def is_below(name: str, *tops: str) -> bool:
    """Whether a dotted name is one of `tops` or inside one."""
    return any(name == top or name.startswith(top + ".") for top in tops)


@cache
def repository_files() -> tuple[str, ...]:
    """Every file of the repository that git does not ignore, committed or not yet."""
    argv = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(argv, check=True, capture_output=True, text=True).stdout.splitlines()
    return tuple(sorted(name for name in set(listed) if (ROOT / name).is_file()))


@cache
def modules() -> tuple[Module, ...]:
    """Every Python source of the repository, sample data aside."""
    names = [name for name in repository_files() if name.endswith(".py") and not name.startswith("tests/data/")]
    return tuple(Module(name, (ROOT / name).read_text("utf-8")) for name in names)
