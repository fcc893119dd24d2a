from __future__ import annotations

import re

import pytest
from attrs import evolve
from tests.judging import make_plan, make_result, mixed_plan

from atomrun.report.summary import escape, summary
from atomrun.results import RunVerdict

RESULT = make_result()


def section(text: str, title: str) -> list[str]:
    body = re.search(rf"^## {title}\n\n(.*?)\n(?=## |\Z)", text, re.DOTALL | re.MULTILINE)
    assert body is not None, title
    return body[1].rstrip().splitlines()


def test_the_verdict_and_its_reasons_come_first() -> None:
    lines = summary(RESULT).splitlines()
    assert lines[0] == "# INFRASTRUCTURE: mi3xx_atom_model_fp8_single (perf)"
    assert lines[2].startswith("specs: 40 written, 24 evaluated, 1 skipped")
    assert section(summary(RESULT), "Why")[0] == "- stop on 10.0.0.1: 1 process is left"


def cells_of(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("|").split("|")]


def test_gates_that_did_not_pass() -> None:
    rows = [cells_of(row) for row in section(summary(RESULT), "Gates that did not pass")[2:]]
    assert [row[:6] for row in rows] == [
        ["balanced0-conc32", "output_throughput", "FAIL", "2,500", "≥ 3,000", "-16.7 %"],
        ["balanced0-conc64", "p99_ttft_ms", "SKIPPED", "–", "≤ 240", ""],
        ["balanced0-conc128", "success_rate", "FAIL", "0.9625", "≥ 1", "-3.7 %"],
    ]
    assert rows[1][6:] == ["ms", "null in the artifact · threshold.json:13"]


def test_cells_checks_and_facts() -> None:
    text = summary(RESULT)
    first, *_ = (cells_of(row) for row in section(text, "Cells")[2:])
    assert first == [
        "balanced0-conc16",
        "✅ PASS",
        "3,200",
        "400",
        "120.4",
        "236.5",
        "4.71",
        "5.04",
        "5,106",
        "1",
        "",
    ]
    assert "🚫 INVALID" in section(text, "Cells")[5]
    dmesg = cells_of(section(text, "Checks")[3])
    assert dmesg == ["dmesg", "10.0.0.1", "not_scanned", "0.3 s", "the kernel log cannot be read"]
    assert section(text, "Where") == ["- image 10.0.0.1: sha256:0123"]


def test_tables_have_as_many_cells_as_their_heads() -> None:
    for title in ("Gates that did not pass", "Cells", "Checks"):
        assert len({line.count("|") for line in section(summary(RESULT), title)}) == 1


@pytest.mark.parametrize("verdict", RunVerdict)
def test_a_rehearsal_says_so_and_never_pass(verdict: RunVerdict) -> None:
    text = summary(evolve(RESULT, transport="rehearsal", verdict=verdict))
    assert text.startswith("# REHEARSAL: ")
    assert "**REHEARSAL**: stand-in engines" in text
    assert not re.search(r"\bPASS|\bFAIL|✅", text)


def test_an_empty_run_is_a_heading_and_counts() -> None:
    empty = evolve(
        make_result(make_plan()), blocks=(), warnings=(), reasons=(), facts={}, verdict=RunVerdict.NO_VERDICT
    )
    assert "##" not in summary(empty)
    assert summary(empty).startswith("# NO VERDICT: ")


def test_long_tables_are_cut_and_counted() -> None:
    text = summary(make_result(mixed_plan(140)))
    assert section(text, "Cells")[-1] == "… and 42 more: see report.html"


def test_foreign_text_cannot_become_markup() -> None:
    hostile = "<script>|`x`|**b** [a](b) $m$ ~s~ @you #1 !i \x1b[31m\nnext _em_ keep_this"
    shown = escape(hostile)
    assert not re.search(r"[<>|`*\[\]$~@!\x1b\n]", shown)
    assert "#1" not in re.sub(r"&#\d+;", "", shown)
    assert "keep_this" in shown
    assert "&#95;em&#95;" in shown
    cell = evolve(RESULT.cells[3], id=hostile, reason=hostile)
    text = summary(evolve(RESULT, cells=(cell,), reasons=(hostile,), run_id="`x`\x1b", facts={hostile: hostile}))
    assert "<script>" not in text
    assert "\x1b" not in text
    assert "Run `'x'␛`" in text
    for title in ("Gates that did not pass", "Cells"):
        assert len({line.count("|") for line in section(text, title)}) == 1
