from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from typing import Any

import pytest
from attrs import evolve
from tests.judging import make_plan, make_result, make_spec, mixed_plan

from atomcfg.plan import Container, InputFile, Plan
from atomrun.comparison import Panel, framework_parity, prev_run, sheet_of
from atomrun.gate import judge_all
from atomrun.report.deck import deck
from atomrun.report.material import Material
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
        self.data: dict[str, object] = {}
        self._raw = ""
        self._id = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._raw = tag if tag in ("script", "style") else ""
        self._id = dict(attrs).get("id") or ""

    def handle_endtag(self, tag: str) -> None:
        self._raw = "" if tag == self._raw else self._raw

    def handle_data(self, data: str) -> None:
        if not self._raw:
            self.texts.append(data)
        elif self._id:
            self.data[self._id] = json.loads(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def count(self, tag: str, **attributes: str) -> int:
        return sum(name == tag and attributes.items() <= found.items() for name, found in self.elements)

    def attributes(self, name: str) -> list[str]:
        return [value for _, found in self.elements if (value := found.get(name)) is not None]

    @property
    def opened(self) -> list[list[dict[str, object]]]:
        """What each cell and check opens to, as the script reads it: gates by owner."""
        content: Any = self.data["details"]
        return [list(self._gates(content["names"], groups)) for groups, _ in content["items"]]

    @staticmethod
    def _gates(names: list[str], groups: Any) -> Iterator[dict[str, object]]:
        keys = (
            "metric",
            "word",
            "tone",
            "bound",
            "unit",
            "reason",
            "actual",
            "margin",
            "room",
            "source",
            "vacuous",
        )
        for tier, word, _, reason, gates in groups:
            yield {"tier": names[tier], "word": names[word], "reason": names[reason], "gates": len(gates)}
            for gate in gates:
                yield dict(zip(keys, [*(names[at] for at in gate[:6]), *gate[6:]], strict=True))


def page(
    result: RunResult = RESULT, plan: Plan = PLAN, logs: Mapping[str, str] = LOGS, panels: tuple[Panel, ...] = ()
) -> Page:
    return Page(deck(result, plan, Material(logs, panels=panels)))


def test_the_page_is_self_contained() -> None:
    found = page()
    assert not {"src", "srcset", "data", "action", "onload", "onclick"} & {
        name for _, at in found.elements for name in at
    }
    assert found.count("link") == found.count("iframe") == found.count("img") == 0
    assert all(target.startswith("#") for target in found.attributes("href"))
    (policy,) = [at["content"] for tag, at in found.elements if tag == "meta" and "http-equiv" in at]
    assert str(policy).startswith("default-src 'none';")
    style = deck(RESULT, PLAN, Material()).partition("<style>")[2].partition("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style


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


def test_every_verdict_is_found_where_its_cell_opens() -> None:
    """Nothing is left out and nothing shown twice."""
    for cell, opened in zip(RESULT.cells, page().opened, strict=False):
        gates = [gate for gate in opened if "metric" in gate]
        assert sorted(str(gate["metric"]) for gate in gates) == sorted(item.metric for item in cell.verdicts)
        assert sum(int(str(tier["gates"])) for tier in opened if "tier" in tier) == len(cell.verdicts)


def test_a_verdict_is_shown_whole() -> None:
    gates = {gate["metric"]: gate for gate in page().opened[1] if "metric" in gate}
    assert gates["output_throughput"] == {
        "metric": "output_throughput", "word": "FAIL", "tone": "bad", "actual": "2,500", "bound": "≥ 3,000",
        "reason": "", "unit": "tok/s", "margin": "-16.7 %", "room": -0.33,
        "source": "threshold.json:10", "vacuous": 0,
    }  # fmt: skip
    assert gates["mean_tpot_ms"]["vacuous"] == 1
    skipped = {gate["metric"]: gate for gate in page().opened[2] if "metric" in gate}["p99_ttft_ms"]
    assert (skipped["word"], skipped["reason"], skipped["room"]) == ("SKIPPED", "null in the artifact", None)


def test_every_cell_can_be_opened() -> None:
    found = page()
    assert found.count("details", **{"class": "cell"}) == len(RESULT.cells)
    assert "3 requests failed of 80; 0 may (bench_max_failed_requests)" in found.text
    assert "python -m client '--result-dir={run_dir}/c0'" in found.text


def test_margins_are_drawn_within_their_bar() -> None:
    rooms = [gate["room"] for opened in page().opened for gate in opened if gate.get("room") is not None]
    assert rooms
    assert all(-1 <= float(str(room)) <= 1 for room in rooms)


def test_a_cell_past_the_knee_says_so_where_its_bound_fails() -> None:
    assert "past the knee of its sweep: 32 requests at once bring -22 % throughput over 16" in page().text


def test_each_cell_tells_how_to_run_it_alone() -> None:
    text = page().text
    assert "atomrun execute plan.json --cell balanced0-conc32" in text
    assert "atomrun rehearse plan.json --cell balanced0-conc32" in page(evolve(RESULT, transport="rehearsal")).text


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
    gate = found.opened[-1][1]
    assert (gate["metric"], gate["word"], gate["actual"]) == ("gsm8k.exact_match__strict-match", "FAIL", "0.8")
    assert (gate["bound"], gate["margin"]) == ("≥ 0.9", "-11.1 %")


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


def test_comparisons_stand_beside_what_differs() -> None:
    ours = sheet_of(RESULT, PLAN)
    theirs = evolve(ours, run_id="run-0", image="rocm/atom:0")
    first = evolve(theirs.cells[0], values={"output_throughput": 3300.0, "total_token_throughput": 6300.0})
    panel = prev_run(ours, evolve(theirs, cells=(first, *theirs.cells[1:])), "old.json")
    text = page(panels=(panel, framework_parity(ours, theirs, "x.json"))).text
    assert "Throughput against the previous run run-0 (atom on mi3xx, INFRASTRUCTURE)" in text
    assert "what differs here there image not known rocm/atom:0" in text
    assert "cell output tok/s total tok/s balanced0-conc16 -3.0 % +2.7 % balanced0-conc32" in text
    assert "3,200 here, 3,300 there (tok/s)" in page(panels=(panel,)).attributes("title")
    assert "both runs are of driver atom" in text
    assert "#compared" in page(panels=(panel,)).attributes("href")
    assert "#compared" not in page(panels=(prev_run(ours, None),)).attributes("href")


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
    html = deck(result, PLAN, Material({HOSTILE: HOSTILE}))
    found = Page(html)
    assert found.count("script") == deck(RESULT, PLAN, Material()).count("<script")
    assert "<script>alert" not in html
    assert found.count("img") == 0
    assert "\x1b" not in html
    assert "\u202e" not in html
    assert found.text.count(HOSTILE_SHOWN) > 15
    assert [gate["source"] for gate in found.opened[3] if "metric" in gate] == [HOSTILE_SHOWN]
    assert f"{HOSTILE_SHOWN}: 1.0 s. {HOSTILE_SHOWN}" in found.attributes("title")
