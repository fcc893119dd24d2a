"""What machines read: JSON, GitHub's workflow commands, SARIF."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atomcfg.catalogue import CATALOGUE
from atomcfg.diagnostics import Diagnostic, Related, Severity, Span
from atomcfg.render.github import render_github
from atomcfg.render.json import render_json
from atomcfg.render.sarif import render_sarif

KEY = Span("conf/a.json", 14, 7, 19, "sweep.runs[2]", '      "concurency": 64')
ERROR = Diagnostic("A201", Severity.ERROR, 'unknown key "concurency"', KEY, 'did you mean "concurrency"?')
WARNING = Diagnostic("A601", Severity.WARNING, "no cluster file: 100 % open", Span("--cluster"))
NOTE = Diagnostic(
    "A108", Severity.NOTE, "given twice", Span("a,b:c.json", 2, 5, 5), related=(Related("first", KEY),)
)  # fmt: skip
ALL = [ERROR, WARNING, NOTE]

# The parts of SARIF 2.1.0 that consumers reject a log without, from the OASIS standard (sections 3.13 to 3.30).
TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
LOCATION = {
    "type": "object",
    "properties": {
        "physicalLocation": {
            "required": ["artifactLocation"],
            "properties": {
                "artifactLocation": {"required": ["uri"], "properties": {"uri": {"format": "uri-reference"}}},
                "region": {
                    "required": ["startLine"],
                    "properties": {
                        "startLine": {"type": "integer", "minimum": 1},
                        "startColumn": {"type": "integer", "minimum": 1},
                        "endColumn": {"type": "integer", "minimum": 1},
                    },
                },
            },
        }
    },
}
RULE = {"required": ["id"], "properties": {"shortDescription": TEXT, "fullDescription": TEXT, "help": TEXT}}
RESULT = {
    "required": ["message", "ruleId", "level", "locations"],
    "properties": {
        "message": TEXT,
        "level": {"enum": ["none", "note", "warning", "error"]},
        "ruleIndex": {"type": "integer", "minimum": 0},
        "locations": {"type": "array", "items": LOCATION},
        "relatedLocations": {"type": "array", "items": {**LOCATION, "required": ["id", "message"]}},
    },
}
RUN = {
    "required": ["tool", "results"],
    "properties": {
        "tool": {
            "required": ["driver"],
            "properties": {"driver": {"required": ["name"], "properties": {"rules": {"items": RULE}}}},
        },
        "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
        "results": {"type": "array", "items": RESULT},
    },
}
SARIF = jsonschema_rs.Draft202012Validator(
    {
        "required": ["version", "runs"],
        "properties": {"version": {"const": "2.1.0"}, "runs": {"type": "array", "minItems": 1, "items": RUN}},
    },
    validate_formats=True,
)


def test_json() -> None:
    document = json.loads(render_json(ALL))
    assert {name: document[name] for name in ("errors", "warnings", "notes")} == {
        "errors": 1, "warnings": 1, "notes": 1,
    }  # fmt: skip
    assert document["diagnostics"][0] == {
        "code": "A201",
        "severity": "error",
        "summary": 'unknown key "concurency"',
        "hint": 'did you mean "concurrency"?',
        "file": "conf/a.json",
        "path": "sweep.runs[2]",
        "line": 14,
        "column": 7,
        "end_column": 19,
        "text": '      "concurency": 64',
        "related": [],
    }
    assert "line" not in document["diagnostics"][1]
    assert document["diagnostics"][2]["related"][0]["message"] == "first"


def test_github() -> None:
    assert render_github(ALL).split("\n") == [
        "::error file=conf/a.json,line=14,col=7,endColumn=18,title=A201 sweep.runs[2]::"
        'unknown key "concurency"%0Ahint: did you mean "concurrency"?',
        "::warning file=--cluster,title=A601::no cluster file: 100 %25 open",
        "::notice file=a%2Cb%3Ac.json,line=2,col=5,title=A108::given twice%0Afirst: conf/a.json:14",
        "",
    ]


def test_sarif() -> None:
    log = json.loads(render_sarif(ALL))
    assert [error.message for error in SARIF.iter_errors(log)] == []
    run = log["runs"][0]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["A108", "A201", "A601"]
    first = run["results"][0]
    assert run["tool"]["driver"]["rules"][first["ruleIndex"]]["id"] == first["ruleId"] == "A201"
    assert first["level"] == "error"
    assert first["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "conf/a.json"},
                "region": {
                    "startLine": 14,
                    "startColumn": 7,
                    "endColumn": 19,
                    "snippet": {"text": '      "concurency": 64'},
                },
            },
            "logicalLocations": [{"fullyQualifiedName": "sweep.runs[2]"}],
        }
    ]
    assert run["results"][2]["relatedLocations"][0]["message"] == {"text": "first"}


@pytest.mark.parametrize(
    ("name", "uri"),
    [
        ("a b.json", "a%20b.json"),
        ("/srv/a:b.json", "file:///srv/a%3Ab.json"),
        ("conf\\a.json", "conf/a.json"),
        ("\udcff.json", "%5Cudcff.json"),
    ],
)
def test_sarif_names_files_by_uri(name: str, uri: str) -> None:
    log = json.loads(render_sarif([Diagnostic("A201", Severity.ERROR, "x", Span(name))]))
    assert log["runs"][0]["results"][0]["locations"][0]["physicalLocation"] == {"artifactLocation": {"uri": uri}}


anything = st.text(st.characters())
spans = st.builds(Span, anything, st.integers(0, 9), st.integers(1, 9), st.integers(1, 9), anything, anything)
diagnostics = st.lists(
    st.builds(
        Diagnostic,
        st.sampled_from(sorted(CATALOGUE)),
        st.sampled_from(list(Severity)),
        st.text(st.characters(), min_size=1),
        spans,
        anything,
        st.lists(st.builds(Related, st.text(min_size=1), spans), max_size=2).map(tuple),
    ),
    max_size=3,
)


@given(diagnostics)
def test_any_text_survives(items: list[Diagnostic]) -> None:
    document: Any = json.loads(render_json(items))
    assert [item["summary"] for item in document["diagnostics"]] == [item.summary for item in items]
    log = json.loads(render_sarif(items))
    assert [error.message for error in SARIF.iter_errors(log)] == []
    lines = render_github(items).encode("utf-8").split(b"\n")
    assert len(lines) == len(items) + 1
    assert all(line.startswith(b"::") for line in lines[:-1])
