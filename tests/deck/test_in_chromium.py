"""The run deck as a reader has it: opened from disk in a browser that reaches no network."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import evolve
from tests.judging import make_result, mixed_plan

from atomrun.report.deck import deck
from atomrun.report.material import Material

from .browser import Browser, Page

FAILED = "chat-conc32"
CONTRAST = (Path(__file__).parent / "contrast.js").read_text().strip().removesuffix(";")
TEXTS = [
    ("body", "body"), (".note", "body"), (".cell b", ".cell b"), ("header h1", "header"),
    ("nav a", "nav"), (".live svg text", "figure"), (".why li", "header"), (".tiles small", ".tiles li"),
]  # fmt: skip
HOSTILE = (
    '</pre><img src=x onerror="window.pwned = 1"><script>window.pwned = 2</script> \x1b[31m ${window.pwned = 3}'
)


@pytest.fixture
def page(browser: Browser, rehearsed: Path) -> Iterator[Page]:
    """The deck of the rehearsal, freshly opened."""
    opened = browser.open(rehearsed / "report.html")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The deck of 500 cells, among its logs a line that would be markup."""
    plan = mixed_plan(500)
    path = tmp_path_factory.mktemp("large") / "report.html"
    result = make_result(plan)
    first = evolve(result.cells[0], reason=HOSTILE)
    path.write_text(deck(evolve(result, cells=(first, *result.cells[1:])), plan, Material({HOSTILE: HOSTILE})))
    return path


def test_it_opens_from_disk_alone_and_without_a_complaint(page: Page, rehearsed: Path) -> None:
    assert page.requested == [(rehearsed / "report.html").resolve().as_uri()]
    assert page.complaints == []


@pytest.mark.parametrize("section", ["gates", "figures", "checks", "timeline", "logs", "provenance", "reproduce"])
def test_every_panel_is_filled(page: Page, section: str) -> None:
    assert len(page.text(f"#{section}")) > 60
    assert page.count(f"nav a[href='#{section}']") == 1


def test_the_charts_are_drawn_with_their_points(page: Page) -> None:
    titles = page.run(
        "[...document.querySelectorAll('figure.drawn figcaption > span:first-child')].map(e => e.innerText)"
    )
    assert [str(title).rsplit(" ", 1)[0] for title in titles] == [
        "Output throughput",
        "Time to first token, mean",
        "Time per output token, mean",
        "Throughput per GPU against speed for a user",
        "GPU memory, the fullest of a node",
        "GPU power, all of a node",
    ]
    assert page.count("figure.drawn > svg") == 6  # what a reader without scripts sees; hidden now
    assert page.count(".live svg.marks") == 6
    assert page.run("[...document.querySelectorAll('figure.drawn > svg')].every(e => !e.checkVisibility())")
    assert "Pareto front" in page.text("[data-chart='3'] .live")


def test_comparisons_are_shown(page: Page) -> None:
    text = page.text("#compared")
    for part in (
        "Throughput against the previous run",
        "earlier",
        "Accuracy against",
        "flexible-extract",
        "1.000 x",
    ):
        assert part in text
    assert page.count("#compared table.versus") == 3


def test_the_reason_leads_to_the_cell_and_its_bound(page: Page) -> None:
    """From the first screen to the broken bound and where it is written: one click."""
    assert f"{FAILED}: output_throughput" in page.text(".why")
    page.click(".why a")
    page.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert page.run("document.querySelector('.cell[open] .id').innerText") == FAILED
    broken = page.text(".cell[open] tr.bad:not(.tier)")
    assert "output_throughput missed" in broken
    assert "≥ 10,000,000 tok/s" in broken
    assert "mi3xx_atom_demo_threshold.json:" in broken
    assert page.run("document.querySelector('.cell[open]').getBoundingClientRect().top") < 200


def test_an_opened_cell_tells_how_to_run_it_alone(page: Page) -> None:
    page.click(".why a")
    page.run("new Promise(done => setTimeout(done))")
    page.click(".cell[open] .opened > details > summary")
    assert f"atomrun rehearse plan.json --cell {FAILED}" in page.text(".cell[open] .opened > details")


def test_a_point_of_a_chart_leads_to_its_cell(page: Page) -> None:
    x, y = page.centre("[data-chart='0'] .live .mark-symbol path[aria-label]")
    for kind in ("mousePressed", "mouseReleased"):
        page.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
    page.run("new Promise(done => setTimeout(done, 100))")
    assert page.count(".cell[open]") == 1


def test_the_filter_finds_and_says_how_many(page: Page) -> None:
    page.press("/")
    assert page.run("document.activeElement.id") == "find"
    page.type("SUMMARY")
    assert page.run("[...document.querySelectorAll('.cell:not([hidden]) .id')].map(e => e.innerText)") == [
        "summary-conc8"
    ]
    assert page.text("#shown") == "1 of 4 cells"
    page.press("Escape")
    assert page.count(".cell[hidden]") == 0


def test_the_keyboard_alone_is_enough(page: Page) -> None:
    page.press("f")
    visible = "[...document.querySelectorAll('.cell:not([hidden]) .id')].map(e => e.innerText)"
    assert page.run(visible) == [FAILED]
    page.press("f")
    for _ in range(3):
        page.press("j")
    page.press("k")
    assert page.run("document.activeElement.querySelector('.id').innerText") == "chat-conc8"
    page.press("Enter")
    assert (
        page.run("new Promise(done => setTimeout(() => done(document.activeElement.parentElement.open)))") is True
    )
    assert page.count(".cell[open] .gates tbody tr") > 25


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_follows_the_readers_colours_and_stays_readable(page: Page, scheme: str) -> None:
    page.media(scheme=scheme)
    contrasts = page.run(f"({CONTRAST})({json.dumps(TEXTS)})")
    assert [pair for pair, contrast in zip(TEXTS, contrasts, strict=True) if contrast < 4.5] == []
    dark = page.run("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0] < 100")
    assert dark is (scheme == "dark")


def test_it_prints_without_its_controls_and_nothing_is_cut(page: Page) -> None:
    page.media(media="print")
    assert page.run("['nav', '.filter'].every(q => !document.querySelector(q).checkVisibility())")
    page.media(media="")
    assert page.printed().startswith(b"%PDF")


def test_five_hundred_cells_stay_light(browser: Browser, large: Path) -> None:
    """What is not open is not made: the document grows by the cell that is opened, and by that only."""
    page = browser.open(large)
    assert page.count(".cell") == 500
    before = page.count("*")
    assert before < 500 * 70
    assert page.count(".gates") == 0
    page.click("#cell-7 summary")
    page.run("new Promise(done => setTimeout(done))")
    assert page.count(".gates") == 1
    assert page.count("*") - before < 400
    page.press("/")
    page.type("conc64")
    assert page.text("#shown") == f"{page.count('.cell:not([hidden])')} of 500 cells"
    assert 60 < page.count(".cell:not([hidden])") < 100
    assert page.complaints == []
    page.close()


def test_what_a_log_says_stays_text(browser: Browser, large: Path) -> None:
    page = browser.open(large)
    page.click("#cell-0 summary")
    assert page.run("window.pwned ?? 0") == 0
    assert page.count("img") == 0
    shown = page.run("document.querySelector('#logs pre').textContent")
    assert '<img src=x onerror="window.pwned = 1"><script>window.pwned = 2</script>' in shown
    assert "\x1b" not in shown
    page.close()


def test_without_scripts_the_verdict_the_matrix_and_the_curves_are_there(browser: Browser, rehearsed: Path) -> None:
    page = browser.open(rehearsed / "report.html")
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    page.call("Page.reload")
    browser.events.clear()
    browser.wait("Page.loadEventFired")
    page.call("Emulation.setScriptExecutionDisabled", value=False)
    assert FAILED in page.text(".why")
    assert page.count("figure > svg polyline") >= 6
    assert page.count(".live") == 0
    page.close()
