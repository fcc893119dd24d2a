"""What the compiler may cost, counted and not timed: modules, calls and bytes."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import FrameType

import pytest

import atomcfg
from atomcfg import Result, dump_plan, load_plan

from .compiling import DATA, compile_shipped
from .sweeping import sweep

CONFIG = DATA / "cvs" / "mi3xx_atom_deepseek-r1_fp8_single.json"
HEAVY = {"polars", "plumbum", "jinja2", "rich", "altair", "aiohttp", "jsonschema", "shtab", "tomli_w"}
ONLY_TO_READ_PLANS = {"cattrs", "atomcfg.unpacking"}
OTHER_DRIVERS = {"atomcfg.drivers.vllm", "atomcfg.drivers.sglang"}
WHEN_FAULTY = {"atomcfg.catalogue", "atomcfg.faults"}
OTHER_FORMATS = {"atomcfg.render.json", "atomcfg.render.github", "atomcfg.render.sarif"}
COMPILER = {"atomcfg.compiler", "atomcfg.plan", "atomcfg.drivers", "jsonschema_rs"}
ELSEWHERE = {"atomcfg.migration", "atomcfg.starter", "atomcfg.difference", "tempfile", "tomllib", "unittest"}
COMPILING = HEAVY | ONLY_TO_READ_PLANS | OTHER_DRIVERS | OTHER_FORMATS | ELSEWHERE | WHEN_FAULTY


def loaded_by(code: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after `code`."""
    script = f"import sys\ntry:\n    {code}\nfinally:\n    print('\\n' + ' '.join(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    return set(ran.stdout.splitlines()[-1].split())


def command(*words: str) -> str:
    return f"from atomcfg.__main__ import main; main({list(words)!r})"


@pytest.mark.parametrize(
    ("code", "unwanted"),
    [
        ("import atomcfg", COMPILING | COMPILER | {"attr", "json"}),
        (command("--help"), COMPILING | COMPILER | {"attr", "json"}),
        (command("--version"), COMPILING | COMPILER | {"attr", "json"}),
        (command("plan", "--dry-run", str(CONFIG)), COMPILING),
        (command("check", str(CONFIG)), COMPILING),
        (command("check", "--format", "json", str(CONFIG)), COMPILING - {"atomcfg.render.json"}),
        (command("explain", "A201"), HEAVY | COMPILER | ONLY_TO_READ_PLANS | ELSEWHERE),
        (command("schema", "plan"), HEAVY | COMPILER | ONLY_TO_READ_PLANS | ELSEWHERE),
        (command("list"), HEAVY | COMPILER | ONLY_TO_READ_PLANS),
        (command("migrate", "--help"), HEAVY | COMPILER | ONLY_TO_READ_PLANS | ELSEWHERE),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_command_loads_what_it_needs(code: str, unwanted: set[str]) -> None:
    assert loaded_by(code) & unwanted == set()


def test_what_is_loaded_is_seen() -> None:
    needed = COMPILER | {"attr", "json", "atomcfg.drivers.atom", "atomcfg.packing"}
    assert loaded_by(command("plan", "--dry-run", str(CONFIG))) >= needed


def test_a_plan_is_read_without_the_compiler(tmp_path: Path) -> None:
    result = compile_shipped("cvs", CONFIG.name)
    path = tmp_path / "plan.json"
    path.write_text(result.text, "utf-8")
    unwanted = HEAVY | OTHER_DRIVERS | OTHER_FORMATS | {"atomcfg.compiler", "atomcfg.passes", "jsonschema_rs"}
    assert loaded_by(command("show", str(path))) & unwanted == set()


@cache
def compiled(cells: int) -> tuple[Result, int]:
    """The result, and the number of functions that were called for it, those of the interpreter included."""
    sources = sweep(cells)
    atomcfg.compile(sweep(1), user="tester")  # modules and schemas are loaded once
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        result = atomcfg.compile(sources, user="tester")
    finally:
        sys.setprofile(before)
    assert result.plan is not None, result.diagnostics[:3]
    return result, calls


def test_a_cell_of_25_specs_takes_few_calls() -> None:
    (_, few), (_, many) = compiled(100), compiled(1000)
    assert (many - few) / 900 < 700


def test_work_grows_with_the_cells_and_no_faster() -> None:
    counts = {cells: compiled(cells)[1] for cells in (100, 1000, 10_000)}
    each = [(counts[1000] - counts[100]) / 900, (counts[10_000] - counts[1000]) / 9000]
    assert each[1] == pytest.approx(each[0], rel=0.05)


def test_a_cell_of_25_specs_takes_few_bytes() -> None:
    (few, _), (many, _) = compiled(100), compiled(1000)
    assert (len(many.text) - len(few.text)) / 900 < 800


def test_the_text_of_a_result_is_its_plan() -> None:
    result, _ = compiled(100)
    assert result.plan is not None
    assert result.text == dump_plan(result.plan)
    assert load_plan(result.text) == result.plan


def test_what_cells_share_stands_once() -> None:
    result, _ = compiled(1000)
    document = json.loads(result.text)
    tables = {name: len(document[name]) for name in ("gates", "sheets", "commands", "servers")}
    assert tables == {"gates": 25, "sheets": 1, "commands": 1, "servers": 1}


def test_lines_of_specs_are_those_of_the_file() -> None:
    result, _ = compiled(100)
    assert result.plan is not None
    lines = sweep(100).thresholds[0].data.decode().splitlines()
    provenance = result.plan.provenance
    for cell in result.plan.cells[::33]:
        places = provenance.lines_of(cell.id)
        assert len(places) == 25
        key = next(number for number, line in enumerate(lines, 1) if f'"{cell.key}"' in line)
        for place, where in places.items():
            number = int(where.rpartition(":")[2])
            assert f'"{place.rpartition("/")[2]}"' in lines[number - 1]
            assert key < number <= key + 100
    assert dict(provenance.spec_lines).items() >= provenance.lines_of(result.plan.cells[7].id).items()
