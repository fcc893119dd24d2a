"""What is known of a container before it is touched."""

from __future__ import annotations

import pytest
from attrs import evolve

from atomrun.containers import last_line, on_host_network
from atomrun.host import Completed

from .runs import container_plan


@pytest.mark.parametrize(
    ("words", "shared"),
    [
        (["run", "-d", "--network", "host", "image"], True),
        (["run", "-d", "--network=host", "image"], True),
        (["run", "-d", "--net", "host", "image"], True),
        (["run", "-d", "--net=host", "image"], True),
        (["run", "-d", "--network", "bridge", "image"], False),
        (["run", "-d", "image", "host"], False),
        (["run", "-d", "image", "--network"], False),
    ],
)
def test_whose_network_a_container_has(words: list[str], shared: bool) -> None:
    container = container_plan().container
    assert container is not None
    assert on_host_network(evolve(container, run_argv=tuple(words))) is shared


@pytest.mark.parametrize(
    ("done", "line"),
    [
        (Completed(1, b"out\n", b"first\nlast \n"), "last"),
        (Completed(1, b"out\n", b"\n"), "out"),
        (Completed(125), "exit status 125"),
    ],
)
def test_what_a_program_said_last(done: Completed, line: str) -> None:
    assert last_line(done) == line
