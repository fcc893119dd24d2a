"""The parts that the stand-ins share, each on its own."""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import statistics
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standin import answers, environment, flags, goodput, peaks, prometheus, speculation, stats, table, words
from standin.batch import Batch
from standin.faults import Faults, for_rank
from standin.knobs import Knobs
from standin.load import Prompt, Shot, Traffic, arrivals, volley
from standin.progress import Progress

SHOT = Shot(ok=True, started=10.0, ttft=0.5, latency=1.5, gaps=[(0.25, 4)], output_tokens=5)


@given(st.lists(st.tuples(st.floats(0, 100), st.integers(1, 5)), min_size=1, max_size=20), st.floats(0, 100))
def test_weighted_statistics_are_those_of_the_repeated_values(
    samples: list[tuple[float, int]], percent: float
) -> None:
    values = sorted(value for value, weight in samples for _ in range(weight))
    spread = stats.Spread(samples)
    place = (len(values) - 1) * percent / 100
    low, high = values[math.floor(place)], values[math.ceil(place)]
    assert spread.mean() == pytest.approx(statistics.fmean(values))
    assert spread.std() == pytest.approx(statistics.pstdev(values), abs=1e-6)
    assert spread.percentile(percent) == pytest.approx(low + (high - low) * (place - math.floor(place)))
    assert spread.max() == values[-1]


def test_statistics_of_nothing_are_zero() -> None:
    spread = stats.Spread.of([])
    assert (spread.mean(), spread.std(), spread.percentile(99)) == (0.0, 0.0, 0.0)


@given(st.integers(0, 40_000), st.integers(0, 2**32))
def test_a_prompt_has_exactly_its_tokens(length: int, seed: int) -> None:
    assert words.count(words.random_words(random.Random(seed), length)) == length


def test_an_answer_is_the_same_for_the_same_prompt_and_has_its_tokens() -> None:
    first, second, other = words.Reply("a prompt"), words.Reply("a prompt"), words.Reply("another")
    whole = first.take(30)
    assert second.take(10) + second.take(20) == whole != other.take(30)
    assert words.count(whole) == 30
    assert words.Reply("x", "The answer is 4.").take(6).startswith(" The answer is 4. ")
    assert words.Reply("x").take(0) == ""


def parser(*table_of_flags: flags.Flag, both: bool = False) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="x")
    flags.add_flags(made, table_of_flags, both_spellings=both)
    return made


@pytest.mark.parametrize(
    ("flag", "argv", "value"),
    [
        (flags.Flag("--a-b"), ["--a-b=x"], "x"),
        (flags.Flag("--a-b", "int", 4), [], 4),
        (flags.Flag("--a-b -z", "int"), ["-z", "4"], 4),
        (flags.Flag("--a-b", "float"), ["--a-b", "inf"], math.inf),
        (flags.Flag("--a-b", "json"), ["--a-b", '{"x": [1]}'], {"x": [1]}),
        (flags.Flag("--a-b", "size"), ["--a-b", "2k"], 2000),
        (flags.Flag("--a-b", "size"), ["--a-b", "2K"], 2048),
        (flags.Flag("--a-b", "size"), ["--a-b", "300"], 300),
        (flags.Flag("--a-b", "ints"), ["--a-b", "1", "2"], [1, 2]),
        (flags.Flag("--a-b", "texts"), ["--a-b", "1", "2"], ["1", "2"]),
        (flags.Flag("--a-b", "some"), ["--a-b", "1"], ["1"]),
        (flags.Flag("--a-b", "many"), ["--a-b"], []),
        (flags.Flag("--a-b", "maybe"), ["--a-b"], None),
        (flags.Flag("--a-b", "append"), ["--a-b", "1", "--a-b", "2"], ["1", "2"]),
        (flags.Flag("--a-b", "switch"), ["--a-b"], True),
        (flags.Flag("--a-b", "negatable", True), ["--no-a-b"], False),
        (flags.Flag("--a-b", "text", None, ("x", "y")), ["--a-b", "y"], "y"),
    ],
)
def test_kinds_of_flags(flag: flags.Flag, argv: list[str], value: object) -> None:
    assert parser(flag).parse_args(argv).a_b == value


@pytest.mark.parametrize("option", ["--disable-x", "--no-enable-x"])
def test_paired_flags_have_two_opposites(option: str) -> None:
    one = parser(flags.Flag("--enable-x", "paired", None))
    assert (one.parse_args([]).enable_x, one.parse_args(["--enable-x"]).enable_x) == (None, True)
    assert one.parse_args([option]).enable_x is False
    assert parser(flags.Flag("--disable-y", "paired")).parse_args(["--enable-y"]).disable_y is False


@pytest.mark.parametrize("option", ["--kv_cache_dtype", "--kv-cache-dtype", "-k"])
def test_both_spellings_of_a_long_flag(option: str) -> None:
    assert parser(flags.Flag("--kv_cache_dtype -k"), both=True).parse_args([option, "fp8"]).kv_cache_dtype == "fp8"


def test_underscores_are_folded_in_names_only() -> None:
    given_argv = ["--a_b=c_d", "-x_y", "v_w", "--e_f", "--g_h.i_j=k_l"]
    assert flags.fold_underscores(given_argv) == ["--a-b=c_d", "-x_y", "v_w", "--e-f", "--g-h.i_j=k_l"]


@pytest.mark.parametrize("argv", [["--bogus"], ["--n", "x"], ["--c", "z"], []])
def test_a_wrong_command_line_ends_with_2(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    made = parser(
        flags.Flag("--n", "int"), flags.Flag("--c", "text", None, ("x",)), flags.Flag("--r", required=True)
    )
    with pytest.raises(SystemExit) as ended:
        made.parse_args([*argv, "--r", "1"] if argv else [])
    assert ended.value.code == 2
    assert "x: error: " in capsys.readouterr().err


def test_settings_come_from_the_environment() -> None:
    env = {"STANDIN_SPEED": "5", "STANDIN_MAX_BATCH": "3", "STANDIN_LOAD_S": "", "OTHER": "1"}
    knobs = environment.from_environment(Knobs, "STANDIN_", env)
    assert (knobs.speed, knobs.max_batch, knobs.load_s) == (5.0, 3, Knobs().load_s)
    faults = environment.from_environment(
        Faults, "STANDIN_FAULT_", {"STANDIN_FAULT_NOISE": "1", "STANDIN_FAULT_RANK": "1"}
    )
    assert faults.noise
    assert for_rank(faults, 1) == faults
    assert not for_rank(faults, 0).noise
    assert for_rank(Faults(noise=True), 7).noise


@pytest.mark.parametrize(("name", "text"), [("NOISE", "yes"), ("FAIL_EVERY", "often")])
def test_a_fault_that_is_not_understood_is_an_error(
    name: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        environment.from_environment(Faults, "STANDIN_FAULT_", {f"STANDIN_FAULT_{name}": text})
    assert ended.value.code == 2
    assert f"STANDIN_FAULT_{name}" in capsys.readouterr().err


def test_goodput_counts_requests_within_all_objectives() -> None:
    wanted = goodput.objectives(["ttft:600", "tpot:300", "e2el:1500"])
    assert wanted == {"ttft": 600.0, "tpot": 300.0, "e2el": 1500.0}
    assert goodput.good_requests([SHOT, Shot()], wanted) == 1
    assert goodput.good_requests([SHOT], {"ttft": 400.0}) == 0
    assert goodput.objectives(None) == {}


@pytest.mark.parametrize(
    ("pair", "error"), [("ttft", argparse.ArgumentTypeError), ("x:1", ValueError), ("ttft:-1", ValueError)]
)
def test_wrong_objectives(pair: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        goodput.objectives([pair])


def test_the_busiest_second() -> None:
    late = Shot(ok=True, started=11.0, ttft=0.2, latency=0.4, gaps=[], output_tokens=1)
    assert peaks.peaks([SHOT, late, Shot()]) == (5.0, 2)
    assert peaks.peaks([Shot()]) == (0.0, 0)


def test_prometheus_text() -> None:
    assert prometheus.family("x:n_total", "counter", [({"b": "1", "a": "2"}, 3)]) == [
        "# HELP x:n_total n total",
        "# TYPE x:n_total counter",
        'x:n_total{a="2",b="1"} 3.0',
    ]
    assert prometheus.histogram("x:s", [0.5], {}, [0.1, 0.7])[2:] == [
        'x:s_bucket{le="0.5"} 1.0',
        'x:s_bucket{le="+Inf"} 2.0',
        "x:s_count 2.0",
        "x:s_sum 0.7999999999999999",
    ]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Question: Ann has 5 nar and gets 4 more. How many?\nAnswer:", "5+4=9 #### 9"),
        ("Q: Is 7 larger than 4?\nA:", "So the answer is Yes."),
        ("Q: Is 4 larger than 7?\nA:", "So the answer is No."),
        ("Question:\nWhich option shows the word 'b1'?\nOptions:\nA. a0\nB. b1\nAnswer:", "The answer is (B)."),
        ("Question:\nWhich option shows the word 'c'?\nOptions:\nA. a0\nAnswer:", ""),
        ("Fog. The pass key is 12345. Fog.\nWhat is the pass key?", "The answer is 12345."),
        ("Tell me a story:", ""),
        ("nar zair so", ""),
    ],
)
def test_what_the_stand_in_knows(question: str, said: str) -> None:
    assert answers.answer(question, (), 0.0) == said


def test_answers_can_be_wrong_and_are_cut_at_a_stop() -> None:
    question = "Q: Is 7 larger than 4?\nA:"
    assert answers.answer(question, (), 100.0) == "So the answer is No."
    assert answers.answer(question, (" is", "x"), 0.0) == "So the answer"
    assert answers.answer("Question: Ann has 5 nar and gets 4 more. How many?", (), 100.0).endswith("#### 10")
    choice = "Question:\nWhich option shows the word 'b1'?\nOptions:\nA. a0\nB. b1\n"
    assert answers.answer(choice, (), 100.0) == "The answer is (A)."


def run(work: Callable[[], Any]) -> Any:
    return asyncio.run(work())


def test_a_batch_hands_out_all_tokens_the_first_alone() -> None:
    async def work() -> list[int]:
        batch = Batch(Knobs(speed=1e6), limit=8)
        found = [tokens async for tokens in batch.generate(100, 300)]
        assert (batch.running, batch.waiting) == (0, 0)
        counters = batch.counters
        assert (counters.finished, counters.prompt_tokens, counters.generation_tokens) == (1, 100, 300)
        return found

    found = run(work)
    assert (found[0], sum(found)) == (1, 300)


def test_chunks_of_one_token_where_none_is_asked_for() -> None:
    async def work() -> list[int]:
        batch = Batch(Knobs(speed=1e6, chunk_ms=0.0), limit=8)
        return [tokens async for tokens in batch.generate(1, 5)]

    assert run(work) == [1, 1, 1, 1, 1]


def test_requests_beyond_the_limit_wait_their_turn() -> None:
    async def work() -> list[int]:
        batch, order = Batch(Knobs(speed=1e6), limit=1), []

        async def ask(number: int) -> None:
            async for _ in batch.generate(1, 2):
                order.append(number)

        await asyncio.gather(*(ask(number) for number in range(3)))
        return order

    assert run(work) == [0, 0, 1, 1, 2, 2]


def test_a_broken_off_request_is_counted_as_such() -> None:
    async def work() -> Batch:
        batch = Batch(Knobs(speed=1e6, chunk_ms=0.0), limit=1)
        stream = batch.generate(1, 50)
        await anext(stream)
        await stream.aclose()
        return batch

    batch = run(work)
    assert (batch.counters.aborted, batch.counters.finished, batch.running) == (1, 0, 0)


def test_drafts_add_up() -> None:
    async def work() -> Batch:
        batch = Batch(Knobs(speed=1e6), limit=1, speculative=3)
        async for _ in batch.generate(1, 1000):
            pass
        return batch

    found = speculation.drafts(run(work))
    assert found.steps + found.accepted == 1000
    assert found.drafted == 3 * found.steps
    assert found.acceptance_rate == pytest.approx(0.7, abs=0.01)
    assert found.tokens_per_step == pytest.approx(3.1, abs=0.01)
    assert sum(found.accepted_by_step) == pytest.approx(found.steps, abs=3)
    nothing = speculation.drafts(Batch(Knobs(), limit=1))
    assert (nothing.acceptance_rate, nothing.tokens_per_step) == (0.0, 0.0)


def test_load_keeps_to_its_concurrency_and_order() -> None:
    prompts = [Prompt(str(number), 1, 1) for number in range(7)]
    at_once = most = 0

    async def send(prompt: Prompt) -> Shot:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.to_thread(int)  # others get their turn
        at_once -= 1
        return Shot(ok=True, text=prompt.text)

    async def work() -> list[Shot]:
        shots, _ = await volley(prompts, Traffic(math.inf, 1.0, 3, 0), send, Progress(7, shown=False))
        return shots

    assert [shot.text for shot in run(work)] == [str(number) for number in range(7)]
    assert most == 3


def test_a_rate_spaces_the_requests() -> None:
    async def work() -> list[str]:
        prompts = [Prompt("a", 1, 1), Prompt("b", 1, 1)]
        return [prompt.text async for prompt in arrivals(prompts, Traffic(1e6, 0.5, None, 0))]

    assert run(work) == ["a", "b"]


def test_a_single_token_has_no_time_per_token() -> None:
    assert SHOT.tpot() == 0.25
    assert Shot(ok=True, output_tokens=1, latency=1.0).tpot() == 0.0


def test_progress_is_drawn_or_not(capsys: pytest.CaptureFixture[str]) -> None:
    for shown in (True, False):
        bar = Progress(2, shown)
        bar.step()
        bar.step()
        bar.close()
    drawn = capsys.readouterr().err
    assert drawn.count("2/2") == 1
    assert drawn.endswith("it/s]\n")


@pytest.mark.parametrize(("percent", "name"), [(99.0, "99"), (99.9, "99.9")])
def test_names_of_percentiles(percent: float, name: str) -> None:
    assert table.percentile_name(percent) == name
