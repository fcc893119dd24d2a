from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.judging import make_result, make_spec

from atomrun.figures import comparison, duration, figure, number, visible
from atomrun.gate import judge


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.0417, "0.0417"),
        (0.99999, "1"),
        (412.34, "412.3"),
        (1234.56, "1,235"),
        (12345.6, "12,346"),
        (1e6, "1,000,000"),
        (-16.6667, "-16.67"),
        (1e20, "1e+20"),
        (1.5e-9, "1.5e-09"),
        (99999.6, "100,000"),
    ],
)
def test_numbers(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(("digits", "text"), [(5, "1,234.6"), (6, "1,234.57")])
def test_more_digits_where_asked_for(digits: int, text: str) -> None:
    assert number(1234.567, digits) == text


@given(value=st.floats(-1e300, 1e300), digits=st.integers(4, 16))
def test_a_number_is_never_far_from_its_text(value: float, digits: int) -> None:
    assert float(number(value, digits).replace(",", "")) == pytest.approx(value, rel=0.51 * 10 ** (1 - 4))


def compared(kind: str, value: float, actual: float) -> tuple[str, str, str]:
    return comparison(judge(make_spec("success_rate", kind, value, tolerance_pct=5), {"success_rate": actual}))


def test_a_comparison_tells_near_numbers_apart() -> None:
    assert compared("min", 1, 0.99999) == ("0.99999", "≥ 1", "-0.0 %")
    assert compared("max", 412.3, 412.34) == ("412.34", "≤ 412.3", "-0.0 %")
    assert compared("min", 1, math.nextafter(1, 0)) == ("0.9999999999999999", "≥ 1", "-0.0 %")


def test_a_comparison_of_the_same_number() -> None:
    assert compared("min", 1, 1) == ("1", "≥ 1", "+0.0 %")
    assert compared("within", 100, 103) == ("103", "≈ 100", "+2.0 %")


def test_a_comparison_without_one_side() -> None:
    missing = judge(make_spec("success_rate", "min", 1), {})
    assert comparison(missing) == ("–", "≥ 1", "")
    noted = judge(make_spec("duration", "info"), {"duration": 12.0})
    assert comparison(noted) == ("12", "", "")


def test_a_cell_that_does_not_count_shows_its_health_only() -> None:
    good, *_, invalid, unfinished = make_result().cells
    assert [figure(good, name) for name in ("output_throughput", "success_rate", "goodput", "own")] == [
        "3,200", "1", "–", "–",
    ]  # fmt: skip
    assert [figure(invalid, name) for name in ("output_throughput", "success_rate")] == ["–", "0.9625"]
    assert figure(unfinished, "success_rate") == "–"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "0.0 s"),
        (9.96, "10.0 s"),
        (41.4, "41 s"),
        (59.6, "1 min 00 s"),
        (725, "12 min 05 s"),
        (11220, "3 h 07 min"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_control_characters_are_seen() -> None:
    assert visible("\x1b[31mred\x1b[0m\r\n\t\x00\x7f") == "␛[31mred␛[0m␍␊␉␀␡"
    assert visible("\x9b31m \u202eevil\u2066 \ufeff\ud800") == "\\u009b31m \\u202eevil\\u2066 \\ufeff\\ud800"
    assert visible("<b>größer & ≥</b>") == "<b>größer & ≥</b>"


@given(text=st.text(alphabet=st.characters()))
def test_visible_text_is_one_line_that_can_be_encoded(text: str) -> None:
    shown = visible(text)
    assert len(shown.splitlines()) <= 1
    shown.encode()
