from __future__ import annotations

import pytest

from atomcfg.suggest import did_you_mean, nearest

KNOWN = ("concurrency", "combo", "num_prompts", "max_model_length", "seed", "atom", "vllm", "tp")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("concurency", "concurrency"),  # a letter missing
        ("cnocurrency", "concurrency"),  # two letters swapped
        ("Num-Prompts", "num_prompts"),  # case and separator do not count
        ("max model length", "max_model_length"),
        ("max_model_len", "max_model_length"),
        ("sed", "seed"),
        ("vlm", "vllm"),
        ("TP", "tp"),
        ("PT", None),  # two letters differ by case at most
        ("temperature", None),
        ("", None),
    ],
)
def test_nearest(name: str, expected: str | None) -> None:
    assert nearest(name, KNOWN) == expected


def test_first_of_equally_near_names_wins() -> None:
    assert nearest("isk", ["isl", "osk"]) == "isl"
    assert nearest("isk", ["osk", "isl"]) == "osk"


def test_hint_is_a_question_or_nothing() -> None:
    assert did_you_mean("concurency", KNOWN) == 'did you mean "concurrency"?'
    assert did_you_mean("temperature", KNOWN) == ""
