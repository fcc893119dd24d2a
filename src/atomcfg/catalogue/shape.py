"""Codes of the shape check: A201 to A207 and A221 to A229. The shapes are those of `schemas/`."""

from __future__ import annotations

from .entry import Entry

__all__ = ["ENTRIES"]

ENTRIES = (
    Entry(
        "A201",
        "Unknown key",
        "A key that nothing reads is most often a misspelt one: its default would stay in force, and nobody "
        "would know. Keys that start with _ are comments.",
        '{"sweep": {"runs": [{"combo": "chat", "concurency": 64}]}}',
        '{"sweep": {"runs": [{"combo": "chat", "concurrency": 64}]}}',
    ),
    Entry(
        "A202",
        "A key is missing",
        "This object cannot be understood without the key, and there is no default that could be meant.",
        '{"sweep": {"runs": [{"combo": "chat"}]}}',
        '{"sweep": {"runs": [{"combo": "chat", "concurrency": 64}]}}',
    ),
    Entry(
        "A203",
        "A key has another name here",
        "Older files, or the other dialect, call this setting so. The old name is never taken for the new one: "
        "both might stand in the file and disagree.",
        '{"container": {"launch": false}}',
        '{"container": {"lifetime": "no_launch"}}',
    ),
    Entry(
        "A204",
        "A known key does not belong here",
        "The key is right elsewhere. Beside what this object states, it would have no effect.",
        '{"kind": "min", "value": 1, "tolerance_pct": 5}',
        '{"kind": "within", "value": 1, "tolerance_pct": 5}',
    ),
    Entry(
        "A205",
        "The top level is no object",
        "Every input is one JSON object.",
        "[]",
        "{}",
    ),
    Entry(
        "A206",
        "A name is not allowed here",
        "This object has names of your own as keys, but they end up in commands, and some characters cannot.",
        '{"env": {"MY-VAR": "1"}}',
        '{"env": {"MY_VAR": "1"}}',
    ),
    Entry(
        "A207",
        "A value that JSON does not have",
        "TOML has dates and times, and JSON text can spell half of a character. Neither can be a value of a "
        "config.",
        "[set]\nrun_card.notes = 2026-01-31",
        '[set]\nrun_card.notes = "2026-01-31"',
    ),
    Entry(
        "A221",
        "The value has the wrong type",
        "Integers are JSON integers or their plain decimal text, never true, 8.0 or null. Nothing is converted "
        "in silence, and no default replaces what cannot be read.",
        '{"params": {"tensor_parallelism": true}}',
        '{"params": {"tensor_parallelism": 8}}',
    ),
    Entry(
        "A222",
        "The value is out of range",
        "The message states the range.",
        '{"params": {"num_prompts": 0}}',
        '{"params": {"num_prompts": 1000}}',
    ),
    Entry(
        "A223",
        "The value is not one of the choices",
        "The message lists the choices. They are case-sensitive.",
        '{"params": {"driver": "ATOM"}}',
        '{"params": {"driver": "atom"}}',
    ),
    Entry(
        "A224",
        "The text is malformed",
        "The message states the form. Numbers in text are plain decimal: no spaces, leading zeros, separators "
        "or units.",
        '{"params": {"client_poll_count": "150x"}}',
        '{"params": {"client_poll_count": "150"}}',
    ),
)
