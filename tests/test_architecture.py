"""The architecture's rules (docs/architecture.md, CONTRIBUTING.md), read off the sources."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator

import pytest

from .rules import ROOT, Finding, Module, Rule, is_below, modules, rule, snippets

RULES: dict[str, Rule] = {}

DRIVERS = {"atom", "vllm", "vllm_atom", "sglang"}
HEAVY = ("polars", "plumbum", "jinja2", "rich", "altair", "aiohttp", "jsonschema", "jsonschema_rs")
IMPURE = (
    "asyncio", "datetime", "getpass", "glob", "http", "os", "pathlib", "platform", "random", "secrets", "select",
    "shutil", "signal", "socket", "ssl", "subprocess", "tempfile", "threading", "time", "urllib", "uuid",
)  # fmt: skip
PLAN_API = (
    "atomcfg.plan",
    "atomcfg.planio",
    "atomcfg.tokens",
    "atomcfg.metrics",
    "atomcfg._version",
    "atomcfg.shell",
)
NAME_TESTERS = ("src/atomcfg/drivers/", "src/atomrun/artifacts/", "src/atomrun/rehearsal/engines/")
STAND_INS = ("src/atomrun/rehearsal/engines/", "src/atomrun/node/")  # programs of their own, not parts of the tool
PURE = ("pathlib.PurePath", "pathlib.PurePosixPath", "urllib.parse")  # parts of those that touch nothing
SCHEMAS = "src/atomcfg/schemas.py"  # reads the packaged schemas, and nothing else
STATES = "src/atomcfg/passes/states.py"  # what one pass hands to the next: values only


def is_library(path: str) -> bool:
    edge = ("src/atomcfg/cli/", "src/atomcfg/__main__.py")
    return path.startswith("src/atomcfg/") and not path.startswith(edge)


def is_edge(path: str) -> bool:
    return "/cli/" in path or path.endswith("/__main__.py")


@rule(
    RULES,
    bad=[("src/atomcfg/a.py", "import atomrun"), ("src/atomcfg/cli/a.py", "from atomrun.host import Host")],
    good=[("src/atomrun/a.py", "from . import host"), ("src/atomcfg/a.py", "import atomrunner")],
)
def atomcfg_knows_nothing_of_atomrun(module: Module) -> Iterator[Finding]:
    if module.path.startswith("src/atomcfg/"):
        yield from ((line, f"imports {name}") for line, name in module.imports if is_below(name, "atomrun"))


@rule(
    RULES,
    bad=[
        ("src/atomcfg/a.py", "import os.path"),
        ("src/atomcfg/passes/a.py", "from time import time"),
        ("src/atomcfg/a.py", "open('x')"),
        ("src/atomcfg/a.py", "import io\nio.open('x')"),
        ("src/atomcfg/a.py", "import sys\nsys.stdout.write('x')"),
    ],
    good=[
        ("src/atomcfg/cli/a.py", "import os"),
        ("src/atomcfg/__main__.py", "open('x')"),
        ("src/atomcfg/a.py", "from importlib.resources import files\nfiles('atomcfg').joinpath('x').read_text()"),
    ],
)
def the_library_does_no_io(module: Module) -> Iterator[Finding]:
    if not is_library(module.path):
        return
    for line, name in module.imports:
        if (
            is_below(name, *IMPURE)
            and not is_below(name, *PURE)
            and (module.path, name) != (SCHEMAS, "pathlib.Path")
        ):
            yield line, f"imports {name}"
    opening = ("open", "input", "io.open", "codecs.open")
    streams = ("sys.stdin", "sys.stdout", "sys.stderr")
    yield from (
        (line, f"calls {name}") for line, name, _ in module.calls if name in opening or is_below(name, *streams)
    )


@rule(
    RULES,
    bad=[
        ("src/atomrun/a.py", "from atomcfg.drivers import base"),
        ("src/atomrun/cli/a.py", "import atomcfg.passes.read"),
        ("src/atomrun/stages/a.py", "import atomcfg"),
    ],
    good=[("src/atomrun/a.py", "from atomcfg.plan import Plan"), ("src/atomrun/cli/a.py", "import atomcfg")],
)
def atomrun_sees_only_the_plan(module: Module) -> Iterator[Finding]:
    """Executing needs the plan and nothing else; the command line may compile first (`atomrun run`)."""
    if not module.path.startswith("src/atomrun/"):
        return
    for line, name in module.imports:
        hidden = is_below(name, "atomcfg.passes", "atomcfg.drivers", "atomcfg.compiler")
        inside = is_below(name, "atomcfg") and not is_below(name, *PLAN_API) and not is_edge(module.path)
        if hidden or inside:
            yield line, f"imports {name}"


@rule(
    RULES,
    bad=[
        ("src/atomcfg/passes/read.py", "def read(): ..."),
        ("src/atomcfg/passes/read.py", "__all__ = ['read', 'Thing']\ndef read(): ...\nclass Thing: ..."),
        ("src/atomrun/stages/launch.py", "__all__ = ['start']\ndef start(): ..."),
        ("src/atomrun/stages/launch.py", "__all__ = ['launch']\ndef launch(): ...\ndef stray(): ..."),
        (STATES, "class Parsed: ...\ndef helper(): ..."),
    ],
    good=[
        ("src/atomrun/stages/launch.py", "__all__ = ['launch']\ndef launch(): ...\ndef _how(): ..."),
        ("src/atomcfg/passes/__init__.py", ""),
        (STATES, "__all__ = ['Parsed']\nclass Parsed: ..."),
    ],
)
def one_file_one_function_of_its_name(module: Module) -> Iterator[Finding]:
    folder, _, name = module.path.rpartition("/")
    if folder not in ("src/atomcfg/passes", "src/atomrun/stages") or name == "__init__.py":
        return
    stem = name.removesuffix(".py")
    functions = [node.name for node in module.tree.body if isinstance(node, ast.FunctionDef)]
    if module.path == STATES:
        yield from ((1, f"{each}() is no value") for each in functions)
        return
    stated = [
        ast.literal_eval(node.value)
        for node in module.tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id == "__all__"
    ]
    if stated != [[stem]]:
        yield 1, f"__all__ is not [{stem!r}]"
    if [each for each in functions if not each.startswith("_")] != [stem]:
        yield 1, f"{stem}() is not its one public function"


@rule(
    RULES,
    bad=[
        ("src/atomcfg/a.py", "if driver == 'atom': ..."),
        ("src/atomrun/a.py", "x = plan.driver in ('vllm', 'vllm_atom')"),
        ("src/atomrun/stages/a.py", "match d:\n    case 'sglang': ..."),
        ("src/atomrun/a.py", "name.startswith('vllm')"),
    ],
    good=[
        ("src/atomcfg/drivers/a.py", "if x == 'atom': ..."),
        ("src/atomrun/artifacts/a.py", "if format == 'atom': ..."),
        ("src/atomcfg/a.py", "if framework != 'atom': ..."),
        ("src/atomcfg/a.py", "TABLE = {'vllm': 'vllm_atom'}"),
    ],
)
def only_drivers_test_a_drivers_name(module: Module) -> Iterator[Finding]:
    """`framework` is always "atom", whatever the driver; artifact formats have names of their own."""
    if not module.path.startswith("src/") or module.path.startswith(NAME_TESTERS):
        return
    for node in module.nodes:
        if isinstance(node, ast.Compare):
            tested: list[ast.AST] = [node.left, *node.comparators]
            if any(isinstance(each, ast.Name) and each.id == "framework" for each in tested):
                continue
        elif isinstance(node, ast.match_case):
            tested = [node.pattern]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and "swith" in node.func.attr:
            tested = list(node.args)
        else:
            continue
        constants = [sub for each in tested for sub in ast.walk(each) if isinstance(sub, ast.Constant)]
        named = {str(constant.value) for constant in constants} & DRIVERS
        if named:
            yield getattr(tested[0], "lineno", 1), f"tests for {', '.join(sorted(named))}"


@rule(
    RULES,
    bad=[
        ("src/atomrun/stages/a.py", "import subprocess"),
        ("src/atomcfg/cli/a.py", "import os\nos.system('x')"),
        ("src/atomrun/a.py", "import asyncio\nasyncio.create_subprocess_exec('x')"),
        ("src/atomrun/ssh.py", "import subprocess\nsubprocess.run(['ssh'])"),
    ],
    good=[
        ("src/atomrun/local.py", "import subprocess\nsubprocess.Popen(['x'])"),
        ("src/atomrun/ssh.py", "import subprocess\nmachine.popen(['x'], stdin=subprocess.PIPE)"),
        ("src/atomrun/a.py", "import os\nos.getpid()"),
    ],
)
def processes_start_in_one_module(module: Module) -> Iterator[Finding]:
    if not module.path.startswith("src/") or module.path.startswith(("src/atomrun/local.py", *STAND_INS)):
        return
    constants = module.path == "src/atomrun/ssh.py"  # subprocess.PIPE, for plumbum
    for line, name in module.imports:
        if is_below(name, "pty", "subprocess") and not (constants and name == "subprocess"):
            yield line, f"imports {name}"
    starting = (
        *("subprocess.", "asyncio.create_subprocess"),
        *("os.system", "os.popen", "os.exec", "os.spawn", "os.posix_spawn", "os.fork"),
    )
    yield from ((line, f"calls {name}") for line, name, _ in module.calls if name.startswith(starting))


@rule(
    RULES,
    bad=[
        ("src/atomrun/local.py", "from plumbum import local"),
        ("src/atomrun/stages/a.py", "from plumbum import SshMachine"),
        ("src/atomcfg/cli/a.py", "from plumbum.machines import SshMachine"),
        ("src/atomrun/a.py", "import plumbum"),
    ],
    good=[
        ("src/atomrun/ssh.py", "from plumbum import SshMachine"),
        ("src/atomrun/cli/a.py", "from plumbum import cli"),
        ("src/atomrun/cli/a.py", "from plumbum.cli import Application"),
    ],
)
def machines_open_in_one_module(module: Module) -> Iterator[Finding]:
    if module.path.startswith("src/") and module.path != "src/atomrun/ssh.py":
        for line, name in module.imports:
            if is_below(name, "plumbum") and not is_below(name, "plumbum.cli"):
                yield line, f"imports {name}"


@rule(
    RULES,
    bad=[
        ("src/atomrun/ssh.py", "import shlex\nshlex.quote('x')"),
        ("src/atomcfg/cli/a.py", "from shlex import join"),
        ("src/atomrun/a.py", "from pipes import quote"),
    ],
    good=[
        ("src/atomcfg/shell.py", "import shlex\nshlex.join(['x'])"),
        ("src/atomcfg/a.py", "import shlex\nshlex.split('x')"),
    ],
)
def shell_text_has_one_source(module: Module) -> Iterator[Finding]:
    if module.path.startswith("src/") and module.path != "src/atomcfg/shell.py":
        quoting = ("shlex.quote", "shlex.join", "pipes")
        yield from ((line, f"imports {name}") for line, name in module.imports if is_below(name, *quoting))
        yield from ((line, f"calls {name}") for line, name, _ in module.calls if is_below(name, *quoting))


@rule(
    RULES,
    bad=[
        ("src/atomcfg/render.py", "print('x')"),
        ("src/atomrun/report/a.py", "import sys\nsys.exit(1)"),
        ("src/atomrun/run.py", "raise SystemExit(1)"),
        ("src/atomrun/gate.py", "exit(3)"),
    ],
    good=[("src/atomcfg/cli/a.py", "print('x')"), ("src/atomrun/__main__.py", "raise SystemExit(1)")],
)
def printing_and_exiting_live_at_the_edge(module: Module) -> Iterator[Finding]:
    if not module.path.startswith("src/") or is_edge(module.path) or module.path.startswith(STAND_INS):
        return
    leaving = ("print", "exit", "quit", "sys.exit", "os._exit", "SystemExit")
    yield from ((line, f"calls {name}") for line, name, _ in module.calls if name in leaving)


@pytest.mark.parametrize("name", RULES)
def test_repository_keeps(name: str) -> None:
    assert RULES[name].faults_in_repository() == []


@pytest.mark.parametrize(("name", "path", "code"), snippets(RULES, "bad"))
def test_rule_flags(name: str, path: str, code: str) -> None:
    assert RULES[name].faults(path, code), f"{name} does not flag {code!r} in {path}"


@pytest.mark.parametrize(("name", "path", "code"), snippets(RULES, "good"))
def test_rule_passes(name: str, path: str, code: str) -> None:
    assert RULES[name].faults(path, code) == []


def order_faults(text: str, tuple_name: str | None, limit: int) -> list[str]:
    """A file that lists an order: short, and (for a list of stages) one tuple at the top level."""
    faults = [] if text.count("\n") < limit else [f"{text.count(chr(10))} lines, not under {limit}"]
    if tuple_name:
        assigned = [node for node in ast.parse(text).body if isinstance(node, ast.Assign | ast.AnnAssign)]
        targets = [
            (ast.unparse(a.targets[0] if isinstance(a, ast.Assign) else a.target), a.value) for a in assigned
        ]
        if [type(value) for name, value in targets if name == tuple_name] != [ast.Tuple]:
            faults.append(f"{tuple_name} is not one tuple")
    return faults


@pytest.mark.parametrize(
    ("path", "tuple_name", "limit"),
    [("src/atomcfg/compiler.py", None, 120), ("src/atomrun/run.py", "STAGES", 250)],
)
def test_an_order_stands_in_one_short_file(path: str, tuple_name: str | None, limit: int) -> None:
    assert order_faults((ROOT / path).read_text("utf-8"), tuple_name, limit) == []


def test_order_faults_are_found() -> None:
    assert order_faults("x = 1\n" * 120, None, 120) == ["120 lines, not under 120"]
    assert order_faults("STAGES = [a, b]\n", "STAGES", 120) == ["STAGES is not one tuple"]
    assert order_faults("STAGES = (a,)\nSTAGES = (b,)\n", "STAGES", 120) == ["STAGES is not one tuple"]
    assert order_faults("STAGES: tuple[Stage, ...] = (a, b)\n", "STAGES", 120) == []


def loaded_by(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return set(ran.stdout.split())


def test_importing_atomcfg_is_cheap() -> None:
    assert loaded_by("import atomcfg") & set(HEAVY) == set()
    assert "jinja2" in loaded_by("import jinja2"), "the measurement sees what is loaded"


def test_the_rules_look_at_both_packages() -> None:
    seen = {module.path.split("/")[1] for module in modules() if module.path.startswith("src/")}
    assert seen == {"atomcfg", "atomrun"}
