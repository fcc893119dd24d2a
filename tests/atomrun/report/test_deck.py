from __future__ import annotations

from collections.abc import Mapping
from html.parser import HTMLParser

import pytest
from attrs import evolve
from tests.judging import make_plan, make_result, make_spec, mixed_plan

from atomcfg.plan import Container, InputFile, Plan
from atomrun.gate import judge_all
from atomrun.report.deck import deck
from atomrun.results import BlockResult, RunResult, RunVerdict, StageResult, StageStatus

PLAN = mixed_plan()
RESULT = make_result(PLAN)
LOGS = {"first error, in server.log": "HIP out of memory\nat rank 0", "client.log": "\n".join("abc")}
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\x1b[31m\u202e'\"&"
HOSTILE_SHOWN = "</script><script>alert(1)</script><img src=x onerror=alert(1)>␛[31m\\u202e'\"&"


class Page(HTMLParser):
    """What a browser makes of the document: elements with their attributes, and the text outside scripts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._raw = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._raw = tag if tag in ("script", "style") else ""

    def handle_endtag(self, tag: str) -> None:
        self._raw = "" if tag == self._raw else self._raw

    def handle_data(self, data: str) -> None:
        if not self._raw:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def count(self, tag: str, **attributes: str) -> int:
        return sum(name == tag and attributes.items() <= found.items() for name, found in self.elements)

    def attributes(self, name: str) -> list[str]:
        return [value for _, found in self.elements if (value := found.get(name)) is not None]


def page(result: RunResult = RESULT, plan: Plan = PLAN, logs: Mapping[str, str] = LOGS) -> Page:
    return Page(deck(result, plan, logs))


def test_the_page_is_self_contained() -> None:
    found = page()
    assert not {"src", "srcset", "data", "action", "onload", "onclick"} & {
        name for _, at in found.elements for name in at
    }
    assert found.count("link") == found.count("iframe") == found.count("img") == 0
    assert all(target.startswith("#") for target in found.attributes("href"))
    (policy,) = [at["content"] for tag, at in found.elements if tag == "meta" and "http-equiv" in at]
    assert str(policy).startswith("default-src 'none';")
    assert "url(" not in deck(RESULT, PLAN, {})


def test_every_link_leads_somewhere_and_no_id_is_given_twice() -> None:
    found = page()
    ids = found.attributes("id")
    assert len(ids) == len(set(ids))
    assert {target.removeprefix("#") for target in found.attributes("href")} <= set(ids)


def test_the_verdict_and_why() -> None:
    text = page().text
    assert "INFRASTRUCTURE specs: 40 written, 24 evaluated, 1 skipped, 15 not judged; 5 of them cannot fail" in text
    assert "balanced0-conc32 : output_throughput 2,500, not ≥ 3,000 tok/s (-16.7 %, threshold.json:10)" in text
    assert "atomrun cleanup run-1" in text


def test_every_verdict_has_its_row() -> None:
    """A row per verdict, and one per tier above them: nothing is left out and nothing shown twice."""
    found = page()
    tones = ("good", "bad", "void", "warn", "calm")
    verdicts = [verdict for cell in RESULT.cells for verdict in cell.verdicts]
    assert sum(found.count("tr", **{"class": tone}) for tone in tones) == len(verdicts)
    assert sum(found.count("tr", **{"class": f"tier {tone}"}) for tone in tones) == 6 * len(RESULT.cells)
    for part in ("2,500", "≥ 3,000", "-16.7 %", "threshold.json:10", "cannot fail", "null in the artifact"):
        assert part in found.text


def test_every_cell_can_be_opened() -> None:
    found = page()
    assert found.count("details", **{"class": "cell"}) == len(RESULT.cells)
    assert "3 requests failed of 80; 0 may (bench_max_failed_requests)" in found.text
    assert "python -m client '--result-dir={run_dir}/c0'" in found.text


def test_margins_are_drawn_within_their_bar() -> None:
    rooms = [float(style.removeprefix("--room:")) for style in page().attributes("style") if "--room" in style]
    assert rooms
    assert all(-1 <= room <= 1 for room in rooms)
    assert -0.33 in rooms


def test_the_timeline_shows_time_lost_waiting() -> None:
    found = page()
    assert "5.0 s of 10 min 00 s lost waiting" in found.text
    assert "launch: 20 s, 5.0 s waiting" in found.attributes("title")
    assert "stop: 9.0 s. 1 process is left" in found.attributes("title")
    widths = [style for style in found.attributes("style") if style.startswith("left:")]
    assert len(widths) == len(RESULT.stages)
    assert "left:3.33%;width:30.00%" in widths


def test_a_stage_of_no_time_at_all() -> None:
    stages = (StageResult("preflight", StageStatus.OK),)
    assert page(evolve(RESULT, seconds=0.0, stages=stages)).count("i", **{"class": "load"}) == 1


def test_logs_are_shown_and_the_first_is_open_when_the_run_went_wrong() -> None:
    found = page()
    assert "HIP out of memory at rank 0" in found.text
    opened = [tag for tag, at in found.elements if "open" in at]
    assert opened == ["details"]
    assert [tag for tag, at in page(evolve(RESULT, verdict=RunVerdict.PASS)).elements if "open" in at] == []


def test_a_check_that_failed_is_open_with_its_findings() -> None:
    spec = make_spec("gsm8k.exact_match__strict-match", "min", 0.9)
    values = {spec.metric: 0.8}
    verdicts = judge_all("gsm8k", [spec], values, {}, {})
    block = BlockResult("accuracy", "gsm8k", "failed", "", 60.0, values, ("20 of 1319 samples",), verdicts)
    found = page(evolve(RESULT, blocks=(block,)), logs={})
    assert found.count("details", **{"class": "check"}) == 1
    assert [at["class"] for _, at in found.elements if "open" in at] == ["check"]
    assert "20 of 1319 samples" in found.text
    assert "gsm8k.exact_match__strict-match FAIL 0.8 ≥ 0.9 score -11.1 %" in found.text


def test_provenance_and_how_to_reproduce() -> None:
    plan = evolve(
        PLAN,
        container=Container("docker", "rocm/atom:1", "c", "per_run", (), (), ()),
        provenance=evolve(
            PLAN.provenance,
            inputs=(
                InputFile("config", "a.json", "a" * 64),
                InputFile("cluster", "my cluster.json", "b" * 64),
                InputFile("lab", "lab.toml", "c" * 64),
            ),
            overrides=(("params.num_prompts", "80"),),
            run_card=(("notes", "first try"),),
        ),
    )
    text = page(plan=plan).text
    assert "image rocm/atom:1" in text
    assert "image 10.0.0.1 sha256:0123" in text
    assert f"cluster file my cluster.json (sha256 {'b' * 64})" in text
    assert "set params.num_prompts 80" in text
    assert "notes first try" in text
    assert (
        "atomcfg plan a.json --config_profile perf --cluster 'my cluster.json' --lab lab.toml "
        "--set params.num_prompts=80 -o plan.json atomrun execute plan.json"
    ) in text
    assert "atomrun execute plan.json --cell CELL" in text


@pytest.mark.parametrize("verdict", RunVerdict)
def test_a_rehearsal_says_so_and_never_pass(verdict: RunVerdict) -> None:
    found = page(evolve(RESULT, transport="rehearsal", verdict=verdict, blocks=()))
    assert found.text.count("REHEARSAL") >= 3
    assert "PASS" not in found.text
    assert "FAIL" not in found.text
    assert "atomrun rehearse plan.json" in found.text


def test_a_recorded_run_says_so() -> None:
    plan = mixed_plan(enforced=False)
    text = page(make_result(plan), plan).text
    assert "thresholds are recorded, not enforced" in text
    assert "RECORD (fail) fail 1/2 pass 2 pass 1" in text


def test_a_run_of_nothing_has_no_empty_panels() -> None:
    plan = make_plan()
    empty = evolve(make_result(plan), blocks=(), stages=(), warnings=(), reasons=())
    found = page(empty, plan, {})
    assert found.attributes("href") == ["#provenance", "#reproduce"]
    assert found.count("section") == 2


def test_many_reasons_are_counted() -> None:
    text = page(evolve(RESULT, reasons=tuple(f"reason {number}" for number in range(12)))).text
    assert "reason 9 and 2 more, below" in text


def test_a_reason_leads_to_the_cell_with_the_longest_name() -> None:
    first, second, *_ = RESULT.cells
    cells = (evolve(first, id="a"), evolve(second, id="a b"))
    found = page(evolve(RESULT, cells=cells, reasons=("a b is invalid: x", "a: y")))
    links = [at["href"] for tag, at in found.elements if tag == "a"]
    start = links.index("#cell-1")
    assert links[start : start + 2] == ["#cell-1", "#cell-0"]


def test_hostile_text_stays_text_everywhere() -> None:
    spec = judge_all(HOSTILE, [make_spec("failed", "max", 0)], {"failed": 1}, {}, {f"{HOSTILE}/failed": HOSTILE})
    cell = evolve(RESULT.cells[3], id=HOSTILE, key=HOSTILE, reason=HOSTILE, hint=HOSTILE, verdicts=spec)
    block = BlockResult("dmesg", HOSTILE, "failed", HOSTILE, 1.0, {HOSTILE: 1.0}, (HOSTILE,), ())
    stage = StageResult(HOSTILE, StageStatus.FAILED, HOSTILE, HOSTILE, 0.0, 1.0, HOSTILE, HOSTILE)
    result = evolve(
        RESULT,
        run_id=HOSTILE,
        stem=HOSTILE,
        profile=HOSTILE,
        cells=(*RESULT.cells[:3], cell),
        blocks=(block,),
        stages=(stage,),
        reasons=(HOSTILE,),
        warnings=(HOSTILE,),
        facts={HOSTILE: HOSTILE},
    )
    html = deck(result, PLAN, {HOSTILE: HOSTILE})
    found = Page(html)
    assert found.count("script") == 1
    assert found.count("img") == 0
    assert "\x1b" not in html
    assert "\u202e" not in html
    assert found.text.count(HOSTILE_SHOWN) > 20
    assert f"{HOSTILE_SHOWN}: 1.0 s. {HOSTILE_SHOWN}" in found.attributes("title")
