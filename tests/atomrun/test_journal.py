"""The journal: durable lines, in order, readable after a crash."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from atomrun.journal import Journal, read_journal


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def test_lines_are_numbered_timed_and_clean(path: Path) -> None:
    journal = Journal(path, lambda text: text.replace("secret", "****"), lambda: 1.23456)
    journal.begin("launch", session=None)
    journal.end("launch", reason="secret café \udcff", where=Path("/x"))
    journal.close()
    first, second = read_journal(path)
    assert first == {"n": 1, "t": 1.235, "event": "begin", "step": "launch", "session": None}
    assert (second["n"], second["event"], second["where"]) == (2, "end", "/x")
    assert b"secret" not in path.read_bytes()
    assert "café".encode() in path.read_bytes()


def test_a_line_that_a_crash_cut_off_is_left_out(path: Path) -> None:
    journal = Journal(path, str, lambda: 0.0)
    journal.write("one")
    journal.write("two")
    journal.close()
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        assert len(list(read_journal(path))) == whole[:size].count(b"\n")


def test_writers_side_by_side_do_not_mix(path: Path) -> None:
    journal = Journal(path, str, lambda: 0.0)
    threads = [
        threading.Thread(target=lambda: [journal.write("x", text="y" * 500) for _ in range(20)]) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    journal.close()
    assert [line["n"] for line in read_journal(path)] == list(range(1, 81))


def test_a_journal_goes_on_after_a_crash(path: Path) -> None:
    first = Journal(path, str, lambda: 0.0)
    first.write("one")
    first.close()
    path.write_bytes(path.read_bytes() + b'{"n": 2, "ev')
    second = Journal(path, str, lambda: 0.0)
    second.write("two")
    second.close()
    assert [(line["n"], line["event"]) for line in read_journal(path)] == [(1, "one"), (2, "two")]
