"""House rules that a machine can read: sizes, escape hatches, sleeps, skips, and what the documents name."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import PurePosixPath

import pytest

from .rules import ROOT, Finding, Module, Rule, is_below, repository_files, rule, snippets

RULES: dict[str, Rule] = {}

FILE_LINES = 350
FUNCTION_LINES = 40
STAND_INS = "src/atomrun/rehearsal/engines/"  # they fail as the real programs do
DELAYS = "tests/lab/faults.py"  # a proxy that delays traffic: there the delay is the fault that is tested
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def comments(module: Module) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from `def` to the end, without the docstring."""
    lines = (function.end_lineno or 0) - function.lineno + 1
    if ast.get_docstring(function, clean=False) is not None:
        lines -= (function.body[0].end_lineno or 0) - function.body[0].lineno + 1
    return lines


@rule(RULES, bad=[("src/a.py", "x = 1\n" * 350)], good=[("src/a.py", "x = 1\n" * 349)])
def files_are_short(module: Module) -> Iterator[Finding]:
    lines = module.text.count("\n")
    if lines >= FILE_LINES:
        yield lines, f"{lines} lines, not under {FILE_LINES}"


@rule(
    RULES,
    bad=[
        ("src/a.py", "def long():\n" + "    x = 1\n" * 39),
        ("src/a.py", "class A:\n    async def long(self):\n" + "        x = 1\n" * 39),
    ],
    good=[
        ("src/a.py", "def short():\n" + "    x = 1\n" * 38),
        ("src/a.py", 'def told():\n    """One\n\n    two.\n    """\n' + "    x = 1\n" * 38),
    ],
)
def functions_are_short(module: Module) -> Iterator[Finding]:
    for node in module.nodes:
        if isinstance(node, FUNCTIONS) and body_lines(node) >= FUNCTION_LINES:
            yield node.lineno, f"{node.name}() has {body_lines(node)} lines, not under {FUNCTION_LINES}"


@rule(
    RULES,
    bad=[
        ("src/a.py", "x = f()  # type: ignore"),
        ("src/a.py", "x = f()  # type: ignore[arg-type]"),
        ("tests/a.py", "x = f()  # noqa: S310"),
        ("src/a.py", "x = f()  # pragma: no cover"),
        ("src/a.py", "x = f()  # type: ignore[arg-type]  # noqa: S310"),
    ],
    good=[
        ("src/a.py", "x = f()  # type: ignore[arg-type]  # the stub lacks bytes"),
        ("src/a.py", "x = f()  # noqa: S310, only loopback"),
        ("src/a.py", "# a comment about noqa"),
    ],
)
def escape_hatches_say_why(module: Module) -> Iterator[Finding]:
    hatch = r"#\s*(type:\s*ignore(\[[\w, -]*\])?|noqa(:\s*[A-Z]+\d+(,\s*[A-Z]+\d+)*)?|pragma:\s*no (cover|branch))"
    for line, comment in comments(module):
        rest, hatches = re.subn(hatch, "", comment)
        if hatches and not re.search(r"\w{2}", rest):
            yield line, f"no reason beside {comment!r}"


@rule(
    RULES,
    bad=[
        ("src/a.py", "x = 1  # TO" + "DO later"),
        ("tests/a.py", "# FIX" + "ME"),
        ("src/a.py", 'def f():\n    """Does it. XX' + 'X check."""'),
        ("src/a.py", "def f():\n    raise NotImplementedError"),
    ],
    good=[("src/a.py", "MARKS = ('TO" + "DO', 'XX" + "X')"), ("src/a.py", "x = mktemp('a.XX" + "XX')")],
)
def nothing_is_left_open(module: Module) -> Iterator[Finding]:
    """In comments, docstrings and code; a string that a placeholder check looks for is no promise."""
    said = list(comments(module))
    for node in module.nodes:
        if isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Module)):
            said.append((getattr(node, "lineno", 1), ast.get_docstring(node) or ""))
        elif (
            isinstance(node, ast.Name)
            and node.id == "NotImplementedError"
            and not module.path.startswith(STAND_INS)
        ):
            yield node.lineno, "not implemented"
    for line, text in said:
        if found := re.search(r"\b(TODO|FIXME|XXX)\b", text):
            yield line, f"says {found.group()}"


@rule(
    RULES,
    bad=[
        ("tests/a.py", "import time\ntime.sleep(1)"),
        ("tests/a.py", "import time\ndef test_x():\n    time.sleep(1)"),
        ("tests/lab/a.py", "from time import sleep"),
        ("tests/a.py", "import asyncio\nasyncio.sleep(1)"),
    ],
    good=[
        ("src/atomrun/rehearsal/a.py", "import time\ntime.sleep(1)"),
        ("tests/a.py", "import time\ndef wait_until(true):\n    while not true():\n        time.sleep(0.02)"),
        (DELAYS, "import asyncio\nasyncio.sleep(1)"),
    ],
)
def no_test_sleeps(module: Module) -> Iterator[Finding]:
    """A test waits for what it needs, in a `wait_until` with a deadline, never for a time."""
    if not module.path.startswith("tests/") or module.path == DELAYS:
        return
    sleeping = ("time.sleep", "asyncio.sleep")
    waiting = [node for node in module.nodes if isinstance(node, FUNCTIONS) and node.name == "wait_until"]
    allowed = {id(inner) for node in waiting for inner in ast.walk(node)}
    yield from ((line, f"imports {name}") for line, name in module.imports if is_below(name, *sleeping))
    for line, name, call in module.calls:
        if name in sleeping and id(call) not in allowed:
            yield line, f"calls {name}"


@rule(
    RULES,
    bad=[
        ("tests/a.py", "pytest.skip()"),
        ("tests/a.py", "@pytest.mark.skip\ndef test_x(): ..."),
        ("tests/a.py", "@pytest.mark.skipif(True)\ndef test_x(): ..."),
        ("tests/a.py", "@pytest.mark.xfail(strict=True)\ndef test_x(): ..."),
    ],
    good=[
        ("tests/a.py", "pytest.skip('needs root')"),
        ("tests/a.py", "@pytest.mark.skipif(True, reason='needs root')\ndef test_x(): ..."),
    ],
)
def skips_say_why(module: Module) -> Iterator[Finding]:
    if not module.path.startswith("tests/"):
        return
    marks = ("pytest.mark.skip", "pytest.mark.skipif", "pytest.mark.xfail")
    reasoned = {
        id(call.func) for _, name, call in module.calls if any(word.arg == "reason" for word in call.keywords)
    }
    for node in module.nodes:
        if isinstance(node, ast.Attribute) and ast.unparse(node) in marks and id(node) not in reasoned:
            yield node.lineno, f"{ast.unparse(node)} without a reason"
    yield from ((line, f"{name} without a reason") for line, name, call in module.calls if skips_bare(name, call))


def skips_bare(name: str, call: ast.Call) -> bool:
    return name in ("pytest.skip", "pytest.xfail") and not (call.args or call.keywords)


@pytest.mark.parametrize("name", RULES)
def test_repository_keeps(name: str) -> None:
    assert RULES[name].faults_in_repository() == []


@pytest.mark.parametrize(("name", "path", "code"), snippets(RULES, "bad"))
def test_rule_flags(name: str, path: str, code: str) -> None:
    assert RULES[name].faults(path, code), f"{name} does not flag {code!r} in {path}"


@pytest.mark.parametrize(("name", "path", "code"), snippets(RULES, "good"))
def test_rule_passes(name: str, path: str, code: str) -> None:
    assert RULES[name].faults(path, code) == []


def lost_paths(text: str, present: tuple[str, ...]) -> list[str]:
    """Paths of this repository that a document names in backticks but that do not exist; `*` is any part."""
    folders = {str(parent) for name in present for parent in PurePosixPath(name).parents}
    tops = {name.split("/")[0] for name in present if "/" in name}
    lost = []
    for named in re.findall(r"`([\w.*-]+(?:/[\w.*-]+)*/?)`", text):
        path = PurePosixPath(named.rstrip("/"))
        is_ours = named.split("/")[0] in tops and "/" in named
        if is_ours and not any(
            PurePosixPath(each).match(str(path)) for each in (*present, *folders) if each != "."
        ):
            lost.append(named)
    return lost


DOCUMENTS = tuple(name for name in repository_files() if re.fullmatch(r"docs/[\w-]+\.md|[A-Z]+\.md", name))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_paths_in_documents_exist(name: str) -> None:
    assert lost_paths((ROOT / name).read_text("utf-8"), repository_files()) == []


def test_lost_paths_are_found() -> None:
    present = ("src/atomcfg/plan.py", "schemas/plan.schema.json", "README.md")
    text = "`src/atomcfg/plan.py` `src/atomcfg/` `src/gone.py` `schemas/` `schemas/*.json` `schemas/*.toml` `a/b`"
    assert lost_paths(text, present) == ["src/gone.py", "schemas/*.toml"]
    assert DOCUMENTS, "the documents are found"


WORKPLACE = re.compile(r"(?<![\w./*}>-])/(work/|farm/|root/\.(?!cache/))")


def workplace_lines(data: bytes) -> list[str]:
    """Lines that name a folder of a developer's machine. Containers have a `/root`, too."""
    text = data.decode("utf-8", "replace")
    return [line for line in text.splitlines() if WORKPLACE.search(line)]


@pytest.mark.parametrize("top", sorted({name.split("/")[0] for name in repository_files()}))
def test_no_file_names_the_workplace(top: str) -> None:
    names = [
        name for name in repository_files() if name.split("/")[0] == top and name != "tests/test_house_rules.py"
    ]
    assert {name: found for name in names if (found := workplace_lines((ROOT / name).read_bytes()))} == {}


def test_workplace_lines_are_found() -> None:
    assert len(workplace_lines(b"cd /work/main\nPATH=/root/.pyenv\n'/farm/y'\n")) == 3
    assert workplace_lines(b"a/work/b\n/root/.cache/huggingface\n/framework/\n") == []
