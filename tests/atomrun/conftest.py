from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from atomrun.channel import AgentHost

from .nodes import Node


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
