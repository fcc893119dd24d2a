from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from atomrun.channel import AgentHost

from .nodes import SHELLS, Node
from .runs import Fleet


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    """An agent's root on this machine; whatever the test leaves behind is a failure."""
    made = Node(tmp_path)
    yield made
    made.close()


@pytest.fixture
def host(node: Node) -> AgentHost:
    """A host that holds the node."""
    return node.holder()


@pytest.fixture
def fleet_of(tmp_path: Path) -> Iterator[Callable[..., Fleet]]:
    """`Fleet.of` in a folder of the test's own; journals are closed afterwards."""
    made: list[Fleet] = []

    def make(*args: Any, **kwargs: Any) -> Fleet:
        made.append(Fleet.of(tmp_path / str(len(made)), *args, **kwargs))
        return made[-1]

    yield make
    for fleet in made:
        fleet.run.journal.close()


@pytest.fixture(params=SHELLS)
def anyhow(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AgentHost]:
    """A host that holds its node, under each shell that is installed."""
    node = Node(tmp_path, request.param)
    yield node.holder()
    node.close()
