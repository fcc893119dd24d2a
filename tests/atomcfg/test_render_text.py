"""What a person sees: place, line, underline, hint, and nothing that a terminal would act upon."""

from __future__ import annotations

import json
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atomcfg.diagnostics import Diagnostic, Related, Severity, Span
from atomcfg.documents import Document, Origin
from atomcfg.passes.check import check
from atomcfg.render.text import render_text
from atomcfg.render.visible import visible

CONFIG = """\
{
  "paths": {
    "shared_fs": "/home/{user-id}",
    "models_dir": "/models",
    "log_dir": "{shared_fs}/LOGS",
    "hf_token_file": "{shared_fs}/.hf_token"
  },
  "model": {"id": "org/model"},
  "sweep": {"runs": [
    {"combo": "chat", "concurrency": 1},
    {"combo": "chat", "concurrency": 8},
    {
      "combo": "chat",
      "concurency": 64
    }
  ]}
}
"""


def diagnostic(span: Span, **more: Any) -> Diagnostic:
    return Diagnostic("A204", Severity.ERROR, "wrong", span, **more)


def test_an_unknown_key() -> None:
    document = Document(json.loads(CONFIG), {(): Origin("sweep.json", CONFIG)})
    assert render_text(check(document, "config-flat")) == dedent(
        """\
        error[A201]: unknown key "concurency"
          --> sweep.json:14:7, at sweep.runs[2]
        14 |       "concurency": 64
           |       ~~~~~~~~~~~~^
        hint: did you mean "concurrency"?
        """
    )


def test_several_with_related_places_and_severities() -> None:
    first = Span("a.json", 1, 3, 6, "a", '{ "a": 1,')
    second = Span("a.json", 12, 1, 4, "a", '"a": 2 }')
    items = [
        diagnostic(second, related=(Related("first given here", first),), hint="keep one of the two"),
        Diagnostic("A601", Severity.WARNING, "no cluster file", Span("--cluster")),
        Diagnostic("A102", Severity.NOTE, "a byte order mark", Span("b.json", 1, 1)),
    ]
    assert render_text(items) == dedent(
        """\
        error[A204]: wrong
          --> a.json:12:1, at a
        12 | "a": 2 }
           | ~~~^
        note: first given here
          --> a.json:1:3, at a
        1 | { "a": 1,
          |   ~~~^
        hint: keep one of the two

        warning[A601]: no cluster file
          --> --cluster

        note[A102]: a byte order mark
          --> b.json:1:1
        """
    )
    assert render_text([]) == ""


@pytest.mark.parametrize(
    ("text", "column", "end", "shown", "under"),
    [
        ("{'a': 1}", 2, 3, "{'a': 1}", " ^"),  # one character: the caret alone
        ("\t\t5", 3, 4, "        5", "        ^"),
        ("\tabc", 2, 5, "    abc", "    ~~~^"),
        ('"漢字": 5', 7, 8, '"漢字": 5', "        ^"),  # wide characters take two columns
        ('"漢字": 5', 1, 5, '"漢字": 5', "~~~~~~^"),
        ("e\u0301: 5", 5, 6, "e\u0301: 5", "   ^"),  # a combining accent takes none
        ('"\x1b[2J": 5', 1, 8, '"␛[2J": 5', "~~~~~~~^"),
        ("\x7f\x9b\u202e\ud800\u2028", 5, 6, "␡\\u009b\\u202e\\ud800\\u2028", "                   ^"),
        ("ab", 9, 12, "ab", "  ^"),  # a column past the end points behind the line
        ("ab", 1, 99, "ab", "~~^"),
        ("ab", 2, 1, "ab", " ^"),
    ],
)
def test_the_underline_stands_under_what_it_means(text: str, column: int, end: int, shown: str, under: str) -> None:
    lines = render_text([diagnostic(Span("f", 7, column, end, text=text))]).split("\n")
    assert lines[2:4] == [f"7 | {shown}", f"  | {under}"]


LONG = "".join(f"{number:04}" for number in range(100))  # 400 columns


@pytest.mark.parametrize(
    ("column", "end", "shown", "under"),
    [
        (1, 5, "0000000100020003000400050006…", "~~~~^"),
        (201, 205, "…7004800490050005100520053005…", "          ~~~~^"),
        (397, 401, "…0093009400950096009700980099", "                         ~~~~^"),
        (201, 401, "…7004800490050005100520053005…", "          ~~~~~~~~~~~~~~~~~~~^"),  # as far as it is shown
    ],
)
def test_a_long_line_is_cut_around_the_caret(column: int, end: int, shown: str, under: str) -> None:
    rendered = render_text([diagnostic(Span("f", 7, column, end, text=LONG))], width=34).split("\n")
    assert rendered[2:4] == [f"7 | {shown}", f"  | {under}"]


def test_color_is_used_only_when_asked_for() -> None:
    item = diagnostic(Span("f", 7, 1, 2, text="x"), hint="do")
    assert "\x1b" not in render_text([item])
    assert render_text([item], color=True) == (
        "\x1b[1;31merror[A204]\x1b[0m: wrong\n"
        "  \x1b[34m-->\x1b[0m f:7:1\n"
        "\x1b[34m7 |\x1b[0m x\n"
        "\x1b[34m  |\x1b[0m \x1b[1;31m^\x1b[0m\n"
        "\x1b[1mhint\x1b[0m: do\n"
    )


anything = st.text(st.characters())


@given(anything, anything, st.integers(-3, 300), st.integers(-3, 300), st.integers(20, 120))
def test_no_text_reaches_the_terminal_raw(text: str, name: str, column: int, end: int, width: int) -> None:
    item = Diagnostic("A204", Severity.ERROR, name, Span(name, 3, column, end, name, text), name)
    rendered = render_text([item], width=width)
    assert all(line.isprintable() for line in rendered.split("\n"))
    assert len(rendered.split("\n")) == (6 if text and name else 5 if text else 4 if name else 3)


def test_visible_leaves_plain_text_alone() -> None:
    assert visible("plain") == "plain"
    assert visible("漢字 µ\xa0") == "漢字 µ\\u00a0"
    assert visible("a\tb\r\n") == "a    b␍␊"
