"""Codes of text and encoding: A100 to A199."""

from __future__ import annotations

from .entry import Entry

__all__ = ["ENTRIES"]

ENTRIES = (
    Entry(
        "A101",
        "The file is not UTF-8 but another Unicode encoding",
        "Inputs are UTF-8. Some editors save UTF-16 or UTF-32; guessing would work on one machine and not on "
        "the next.",
        "{} saved as UTF-16",
        "{}",
    ),
    Entry(
        "A102",
        "A byte order mark was ignored",
        "Some editors write the bytes EF BB BF before the text. They mean nothing in UTF-8, and other programs "
        "stumble over them.",
        "{} saved as UTF-8 with a byte order mark",
        "{}",
    ),
    Entry(
        "A103",
        "A byte is not UTF-8",
        "The file holds a byte that no UTF-8 text has at this place, often a letter from an older encoding.",
        '{"_comment": "10 \\xb5s"} saved as Latin-1',
        '{"_comment": "10 µs"}',
    ),
    Entry(
        "A104",
        "The text is not JSON",
        "Inputs are strict JSON: double quotation marks, no comments, no comma after the last member. A key "
        "that starts with _ may hold a comment.",
        '{"port_no": 8000,} // the default',
        '{"port_no": 8000, "_comment": "the default"}',
    ),
    Entry(
        "A105",
        "NaN and Infinity are not JSON",
        "Some programs write them as if they were numbers. No bound and no setting has such a value.",
        '{"kind": "max_ms", "value": Infinity}',
        '{"kind": "info"}',
    ),
    Entry(
        "A106",
        "The values are nested too deeply",
        "No input has more than a dozen levels. Text of hundreds is broken, or made to break a reader.",
        "[[[[[[...]]]]]], a thousand levels deep",
        "{}",
    ),
    Entry(
        "A107",
        "A number has too many digits",
        "No setting and no bound needs more than 18 digits; a number of thousands is a mistake.",
        '{"num_prompts": 1000...000}, with thousands of zeros',
        '{"num_prompts": 1000}',
    ),
    Entry(
        "A108",
        "A key is given twice",
        "JSON readers keep the last of two equal keys and say nothing, so half of what the file states would "
        "be lost.",
        '{"enforce_thresholds": true, "enforce_thresholds": false}',
        '{"enforce_thresholds": true}',
    ),
    Entry(
        "A109",
        "The lab file is not TOML",
        "A lab file is TOML 1.0. Keys with brackets, dots or spaces stand in quotation marks.",
        "[values]\n<changeme-models-mount> = /data/models",
        '[values]\n"<changeme-models-mount>" = "/data/models"',
    ),
)
