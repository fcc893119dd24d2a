"""The documents tell the truth: what they show runs, what it prints is what they show, what they name exists.

A fenced `console` block is a session: each `$ ` line is run by sh, in order, in a copy of the repository that each
document gets for itself. A command must exit 0, unless `$ echo $?` follows. Lines below a command are its output:
words must be equal; numbers, digests and widths of columns may differ; a line `...` stands for any lines. A block
below `<!-- needs: lab -->` (or `network`) is not run; `NOT_RUN` lists those, so that leaving one out is seen.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest
from attrs import frozen

from .rules import ROOT, modules, repository_files

DOCUMENTS = sorted(
    name for name in repository_files() if re.fullmatch(r"README\.md|CONTRIBUTING\.md|docs/[\w-]+\.md", name)
)
NOT_RUN: dict[str, list[str]] = {
    "README.md": [
        "make demo",
        "make test",
        "atomcfg plan CONFIG.json --cluster cluster.json -o plan.json",
        "atomrun preflight plan.json",
        "atomrun execute plan.json",
    ],
}


@frozen
class Command:
    """One `$ ` line of a document, what is shown below it (None: nothing), and what it needs beyond Python."""

    text: str
    shown: str | None
    needs: str


def commands(document: str) -> Iterator[Command]:
    """Every command of a document's console blocks, in order."""
    fences = re.finditer(r"(?:<!-- needs: (\w+) -->\n+)?^```console\n(.*?)^```$", document, re.M | re.S)
    for fence in fences:
        needs, body = fence.group(1) or "", fence.group(2)
        for part in re.split(r"^\$ ", body, flags=re.M)[1:]:
            line, _, rest = part.partition("\n")
            while line.endswith("\\"):
                more, _, rest = rest.partition("\n")
                line = line[:-1] + more.removeprefix("> ")
            yield Command(line, rest.strip("\n") or None, needs)


def skeleton(text: str) -> str:
    """A text without what differs from run to run: digests, numbers, how wide columns are and where lines wrap."""
    plain = re.sub(r"\b[0-9a-f]{8,}\b", "H", text)
    plain = re.sub(r"\d+(?:[.,:-]\d+)*", "N", plain)
    plain = re.sub(r"[─━═╌-]{2,}", "-", plain)
    return " ".join(plain.split())


def agrees(shown: str, printed: str) -> bool:
    """Whether the output is what a document shows; a line `...` stands for anything."""
    parts = [re.escape(skeleton(part)) for part in re.split(r"^\.\.\.$", shown, flags=re.M)]
    return re.fullmatch(r"(?s:.*?)".join(parts), skeleton(printed)) is not None


@frozen
class Session:
    """Where a document's commands run, one after another."""

    folder: Path

    def run(self, command: str, previous: int) -> tuple[int, str]:
        """Exit status and output of a command; `$?` is `previous` in it."""
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        environment = {
            "PATH": path,
            "HOME": str(self.folder),
            "LC_ALL": "C.UTF-8",
            "COLUMNS": "100",
            "USER": "tester",
        }
        ran = subprocess.run(
            ["sh", "-c", f"(exit {previous}); {command}"],
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=100,
            check=False,
        )
        return ran.returncode, ran.stdout


def faults(session: Session, told: list[Command]) -> list[str]:
    """What a document says of its commands that is not so."""
    found, status = [], 0
    for number, command in enumerate(told):
        status, printed = session.run(command.text, status)
        judged = number + 1 < len(told) and told[number + 1].text == "echo $?"
        if status != 0 and not judged:
            found.append(f"$ {command.text}\nexit {status}:\n{printed}")
        elif command.shown is not None and not agrees(command.shown, printed):
            found.append(f"$ {command.text}\nshown:\n{command.shown}\nprinted:\n{printed}")
    return found


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """A copy of the repository's files, as a clone would have them."""
    for name in repository_files():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, tmp_path / name)
    return Session(tmp_path)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_commands_do_what_is_shown(name: str, session: Session) -> None:
    told = [command for command in commands((ROOT / name).read_text("utf-8")) if not command.needs]
    assert "\n\n".join(faults(session, told)) == ""


def test_what_is_not_run_is_listed() -> None:
    found = {
        name: left_out
        for name in DOCUMENTS
        if (left_out := [each.text for each in commands((ROOT / name).read_text("utf-8")) if each.needs])
    }
    assert found == NOT_RUN


SAMPLE = """
```console
$ echo 12 nodes; false
13   nodes
$ echo $?
1
$ printf 'a\\nb\\nc\\n'
a
...
$ echo one \\
> two
one two
```

<!-- needs: lab -->

```console
$ atomrun execute plan.json
```
"""


def test_a_true_document_passes(tmp_path: Path) -> None:
    told = list(commands(SAMPLE))
    assert [each.needs for each in told] == ["", "", "", "", "lab"]
    assert faults(Session(tmp_path), told[:4]) == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("false", None),
        ("echo b", "a"),
        ("echo a; echo b", "a"),
        ("echo a", "a\nb"),
        ("echo a", "b\n..."),
        ("exit 3", "1"),
    ],
)
def test_a_false_document_is_caught(text: str, shown: str | None, tmp_path: Path) -> None:
    assert len(faults(Session(tmp_path), [Command(text, shown, "")])) == 1


@cache
def help_of(*argv: str) -> str:
    """What `PROGRAM [SUBCOMMAND] --help` prints; empty if there is no such command."""
    run = [sys.executable, "-m", argv[0], *argv[1:], "--help"]
    ran = subprocess.run(run, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "200"})
    return ran.stdout if ran.returncode == 0 else ""


def unknown_commands(document: str) -> list[str]:
    """Commands and options of ours that a document names, in backticks or console blocks, but that do not exist."""
    said = re.findall(r"`((?:atomcfg|atomrun) [^`]+)`", document) + [each.text for each in commands(document)]
    unknown = []
    for text in said:
        for program, subcommand, rest in re.findall(r"\b(atomcfg|atomrun) ([a-z]\w*)([^|;&]*)", text):
            known = help_of(program, subcommand).replace("_", "-")  # either spelling is accepted
            options = [each.replace("_", "-") for each in re.findall(r"(?<![\w-])--?[a-z][\w-]*", rest)]
            if not known or any(
                not re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", known) for option in options
            ):
                unknown.append(text)
    return unknown


@pytest.mark.parametrize("name", DOCUMENTS)
def test_commands_named_in_documents_exist(name: str) -> None:
    assert unknown_commands((ROOT / name).read_text("utf-8")) == []


def test_unknown_commands_are_found() -> None:
    text = "`atomcfg plan CONFIG --dry-run` `atomcfg plant` `atomcfg plan --dry` `atomrun execute PLAN`"
    assert unknown_commands(text) == ["atomcfg plant", "atomcfg plan --dry"]


def lost_tests(document: str) -> list[str]:
    """Tests that a document names as `path::name` and that do not exist."""
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", document)
    texts = {path: (ROOT / path).read_text("utf-8") if (ROOT / path).is_file() else "" for path, _ in named}
    return [f"{path}::{name}" for path, name in named if f"\ndef {name}(" not in texts[path]]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_tests_named_in_documents_exist(name: str) -> None:
    assert lost_tests((ROOT / name).read_text("utf-8")) == []


def test_lost_tests_are_found() -> None:
    text = "`tests/test_docs.py::test_lost_tests_are_found` `tests/test_docs.py::test_gone` `tests/gone.py::test_x`"
    assert lost_tests(text) == ["tests/test_docs.py::test_gone", "tests/gone.py::test_x"]


def test_every_document_is_in_the_index() -> None:
    index = (ROOT / "docs/index.md").read_text("utf-8")
    assert [name for name in DOCUMENTS if f"`{name}`" not in index and name != "docs/index.md"] == []


def reasons(document: str) -> dict[str, str]:
    """Package and reason of each table row; the package is the last name among a row's first two cells."""
    found = {}
    for line in document.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        named = [number for number, cell in enumerate(cells[:2]) if re.fullmatch(r"`[\w-]+`", cell)]
        if line.startswith("|") and named:
            found[cells[named[-1]].strip("`")] = " ".join(cells[named[-1] + 1 :])
    return found


def names(requirements: Iterable[str]) -> set[str]:
    """Names of packages, without versions and our own extras."""
    return {re.split(r"[<>=\[,]", each)[0] for each in requirements} - {"atomcfg"}


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
EXTRAS = [each for group in PROJECT["project"]["optional-dependencies"].values() for each in group]
SHIPPED = names([*PROJECT["project"]["dependencies"], *EXTRAS])


def test_every_dependency_has_its_reason() -> None:
    groups = [each for group in PROJECT["dependency-groups"].values() for each in group if isinstance(each, str)]
    told = reasons((ROOT / "docs/dependencies.md").read_text("utf-8"))
    assert set(told) == SHIPPED | names([*groups, *PROJECT["build-system"]["requires"]])
    assert all(told.values())


def module_of(package: str) -> str:
    return package.removesuffix("-python").replace("-", "_")


def test_every_shipped_dependency_is_imported() -> None:
    imported = {
        name.partition(".")[0] for each in modules() if each.path.startswith("src/") for _, name in each.imports
    }
    assert {name for name in SHIPPED if module_of(name) not in imported} == set()
