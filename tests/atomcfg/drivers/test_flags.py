"""Reading flags in any spelling."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atomcfg.drivers import flag_names
from atomcfg.drivers.flags import FlagName, Given, count_of, flag_table, read_object, read_words, same_value

TABLE = flag_table(
    "max-model-len max-num-seqs tensor-parallel-size/-tp enable-cache config/-c no-stream", "enable-cache"
)
PATH = ("args",)


@pytest.mark.parametrize(
    ("option", "meant"),
    [
        ("--max-model-len", FlagName("max-model-len")),
        ("--max_model_len", FlagName("max-model-len")),
        ("--max-mod", FlagName("max-model-len")),
        ("--max-m", FlagName("max-model-len")),
        ("--max", FlagName("max", listed=False)),  # ambiguous
        ("-tp", FlagName("tensor-parallel-size")),
        ("-t", FlagName("tensor-parallel-size")),
        ("--tp", FlagName("tp", listed=False)),  # one dash is not two
        ("--enable_cache", FlagName("enable-cache")),
        ("--no-enable_cache", FlagName("enable-cache", negated=True)),
        ("--no-ena", FlagName("enable-cache", negated=True)),
        ("--no-stream", FlagName("no-stream")),  # a flag of its own
        ("--no-max-model-len", FlagName("max-model-len", negated=True, listed=False)),  # no switch
        ("--config.mode", FlagName("config.mode")),
        ("-c.mode_x", FlagName("config.mode-x")),
        ("--foo_bar", FlagName("foo-bar", listed=False)),
        ("--no-foo", FlagName("foo", negated=True, listed=False)),
    ],
)
def test_resolves_as_the_parser_would(option: str, meant: FlagName) -> None:
    assert TABLE.resolve(option) == meant


def test_any_flag_may_have_a_no_form_where_switches_are_not_known() -> None:
    assert flag_table("a-flag", switches=None).resolve("--no-a-flag") == FlagName("a-flag", negated=True)


def test_exact_takes_no_abbreviation() -> None:
    assert TABLE.exact("--max_model_len")
    assert TABLE.exact("--config.mode")
    assert not TABLE.exact("--max-model")


def shown(entries: tuple[Given, ...]) -> list[tuple[str, tuple[str, ...], object]]:
    return [(entry.flag.name if entry.flag else "", entry.values, entry.path[-1]) for entry in entries]


def test_reads_a_list() -> None:
    words = ["x", "-tp", "8", "--max-model-len=4096", "--enable-cache", "--foo", "-1", "--bar", "a", "b", "-.5"]
    assert shown(read_words(words, PATH, TABLE)) == [
        ("", ("x",), 0),
        ("tensor-parallel-size", ("8",), 1),
        ("max-model-len", ("4096",), 3),
        ("enable-cache", (), 4),
        ("foo", ("-1",), 5),
        ("bar", ("a", "b", "-.5"), 7),
    ]


def test_values_of_a_list_need_not_be_texts() -> None:
    (entry,) = read_words(["-tp", 8, True, {"a": 1}], PATH, TABLE)
    assert entry.words == ("-tp", "8", "true", '{"a":1}')


def test_words_of_a_text_have_no_places_of_their_own() -> None:
    (entry,) = read_words(("-tp", "8"), PATH, TABLE, indexed=False)
    assert entry.path == PATH


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (True, ["--config"]),
        (False, []),
        (None, []),
        (64, ["--config", "64"]),
        (0.95, ["--config", "0.95"]),
        ("a b", ["--config", "a b"]),
        (["a", 1], ["--config", "a", "--config", "1"]),
        ([], []),
        ({"mode": 3, "é": [True]}, ["--config", '{"mode":3,"é":[true]}']),
    ],
)
def test_reads_an_object(value: object, words: list[str]) -> None:
    (entry,) = read_object({"config": value}, PATH, TABLE)
    assert list(entry.words) == words
    assert entry.path == ("args", "config")


@pytest.mark.parametrize("key", ["--config", "-c"])
def test_keys_may_have_dashes_in_front(key: str) -> None:
    (entry,) = read_object({key: 1}, PATH, TABLE)
    assert (entry.flag, entry.words) == (FlagName("config"), (key, "1"))


def test_absent_arguments_are_no_arguments() -> None:
    assert read_words(None, PATH, TABLE) == read_object(None, PATH, TABLE) == ()


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (["-tp", "4"], 4),
        (["-tp", "4", "-tp=2"], 2),
        (["-tp", "two"], None),
        (["-tp", "0"], None),
        (["--foo", "4"], None),
    ],
)
def test_counts(words: list[str], count: int | None) -> None:
    assert count_of(read_words(words, PATH, TABLE), "tensor-parallel-size") == count


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("8", "8", True),
        ("0.80", "0.8", True),
        ("inf", "inf", True),
        ("95,99", "99.0,95", True),
        ("95", "95,99", False),
        ("8", "4", False),
        ("a", "b", False),
        ("", "8", False),
    ],
)
def test_same_value(left: str, right: str, same: bool) -> None:
    assert same_value(left, right) is same


SERVERS = {
    "atom": flag_table(flag_names.ATOM_SERVER),
    "vllm": flag_table(flag_names.VLLM_SERVER, None),
    "sglang": flag_table(flag_names.SGLANG_SERVER, None),
}


@pytest.mark.parametrize("engine", SERVERS)
def test_tables_name_each_spelling_once(engine: str) -> None:
    text = getattr(flag_names, f"{engine.upper()}_SERVER")
    spellings = [spelling for word in text.split() for spelling in word.split("/")]
    assert len(spellings) == len(set(spellings))
    assert len(SERVERS[engine].spellings) == len(spellings)


@given(st.data())
def test_every_spelling_of_a_listed_flag_resolves_to_it(data: st.DataObject) -> None:
    table = SERVERS[data.draw(st.sampled_from(sorted(SERVERS)))]
    spelling, name = data.draw(st.sampled_from(sorted(table.spellings.items())))
    mixed = "".join(data.draw(st.sampled_from("-_")) if c == "-" and i > 1 else c for i, c in enumerate(spelling))
    assert table.resolve(mixed) == FlagName(name)


@given(st.lists(st.text(max_size=8), max_size=8))
def test_no_word_is_lost_or_changed(words: list[str]) -> None:
    entries = read_words(words, PATH, TABLE)
    assert [word for entry in entries for word in entry.words] == words
