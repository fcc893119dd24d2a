from __future__ import annotations

import io
import re
from typing import Literal

import pytest
from attrs import evolve
from rich.console import Console
from tests.judging import make_plan, make_result, mixed_plan

from atomrun.report.terminal import final_line, render
from atomrun.results import RunResult, RunVerdict

RESULT = make_result()


def shown(result: RunResult, width: int = 140, *, failed_only: bool = False, colour: bool = False) -> str:
    system: Literal["truecolor"] | None = "truecolor" if colour else None
    console = Console(file=io.StringIO(), width=width, force_terminal=colour, color_system=system)
    console.print(render(result, width, failed_only=failed_only))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def line_of(text: str, word: str) -> int:
    return next(number for number, line in enumerate(text.splitlines()) if word in line)


def test_the_last_line_is_the_verdict() -> None:
    text = shown(RESULT)
    assert text.splitlines()[-1] == final_line(RESULT)
    assert final_line(RESULT) == (
        "INFRASTRUCTURE (exit 3) · specs: 40 written, 24 evaluated, 1 skipped, 15 not judged; 5 of them cannot fail"
        " · 10 min 00 s · run-1"
    )


def test_worst_first() -> None:
    text = shown(RESULT)
    cells = [line_of(text, word) for word in ("INCOMPLETE", "INVALID", "balanced0-conc32", "balanced0-conc16")]
    assert cells == sorted(cells)
    gates = [line_of(text, word) for word in ("≥ 3,000 tok/s", "≥ 1 ratio", "SKIPPED", "≤ 240 ms")]
    assert gates == sorted(gates)


def test_cells_that_are_alike_stay_in_the_plans_order() -> None:
    names = ("chat-conc8", "chat-conc16", "chat-conc128")
    text = shown(evolve(RESULT, cells=tuple(evolve(RESULT.cells[0], id=name) for name in names)))
    lines = [line_of(text, name + " ") for name in names]
    assert lines == sorted(lines)


def test_a_gate_shows_actual_bound_margin_and_where_it_is_written() -> None:
    line = shown(RESULT).splitlines()[line_of(shown(RESULT), "-16.7 %")]
    assert line.split() == [
        "balanced0-conc32", "output_throughput", "FAIL", "2,500", "≥", "3,000", "tok/s", "-16.7", "%",
        "threshold.json:10",
    ]  # fmt: skip


def test_reasons_and_hints_follow_the_tables() -> None:
    text = shown(RESULT)
    assert "why: stop on 10.0.0.1: 1 process is left" in text
    assert "try: atomrun cleanup run-1" in text
    assert "try: read the server's log" in text
    assert "warning: no token file" in text


def test_failed_only_leaves_out_what_held() -> None:
    text = shown(RESULT, failed_only=True)
    assert "balanced0-conc16 " not in text
    assert "PASS" not in text
    assert "balanced0-conc32" in text
    assert "and 19 more that held" in text


def test_a_run_in_which_all_held_ends_with_its_closest_gates() -> None:
    plan = mixed_plan(3)
    good = evolve(make_result(plan), cells=(make_result().cells[0],), blocks=(), stages=(), reasons=())
    good = evolve(good, verdict=RunVerdict.PASS)
    text = shown(good, failed_only=True)
    assert text.splitlines()[-1].startswith("PASS (exit 0)")
    assert "and 7 more that held" in text
    assert "more that held" not in shown(good)


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
def test_no_line_is_wider_than_the_terminal_and_no_number_is_cut(width: int) -> None:
    text = shown(RESULT, width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    assert "INCOMPLETE" in text
    if width >= 80:
        for number in ("-16.7 %", "≥ 3,000 tok/s", "2,500"):
            assert number in text


def test_narrow_terminals_get_the_reasons_of_skipped_specs_in_lines_of_their_own() -> None:
    line = "skipped: balanced0-conc64 p99_ttft_ms: null in the artifact"
    assert line in shown(RESULT, 100)
    assert line not in shown(RESULT, 140)


def test_colour_is_never_the_only_sign() -> None:
    coloured = shown(RESULT, colour=True)
    assert "\x1b[" in coloured
    assert "\x1b" not in shown(RESULT)
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == shown(RESULT)


def test_a_rehearsal_says_so_and_never_pass() -> None:
    for verdict in RunVerdict:
        text = shown(evolve(RESULT, transport="rehearsal", verdict=verdict))
        assert "\nREHEARSAL: " in text
        assert "PASS" not in text
        assert "FAIL" not in text
        assert text.count("REHEARSAL: ") >= 4


def test_recorded_bounds_say_what_they_would_have_been() -> None:
    text = shown(make_result(mixed_plan(enforced=False)))
    assert "RECORD (fail)" in text
    assert "RECORD (pass)" in text


def test_hostile_text_stays_text() -> None:
    cell = evolve(RESULT.cells[1], id="[red]\x1b[31m<b>\r", reason="[/]\x1b]0;x\x07", hint="[bold]")
    result = evolve(RESULT, cells=(cell,), reasons=("[link=x]\x1b[2J",), warnings=("\x9b31m",))
    text = shown(result)
    assert "\x1b" not in text
    assert "\x9b" not in text
    for literal in ("[red]␛[31m<b>␍", "why: [link=x]␛[2J", "try: [bold]", "warning: \\u009b31m"):
        assert literal in text


def test_many_reasons_are_cut_and_counted() -> None:
    result = evolve(RESULT, reasons=tuple(f"reason {number}" for number in range(30)))
    text = shown(result)
    assert "why: reason 7\n" in text
    assert "reason 8" not in text
    assert "why: and 22 more" in text


def test_nothing_to_show_is_still_a_verdict() -> None:
    empty = make_plan()
    text = shown(evolve(make_result(empty), blocks=(), stages=(), warnings=(), reasons=()))
    assert text.splitlines() == [final_line(evolve(make_result(empty), blocks=(), stages=()))]
