"""Fixtures of the lab: a cluster of real nodes, its image, and what a launcher needs to use them."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from . import image
from .bench import CANARY, LEASE_S, MODELS, Bench
from .checks import assert_clean, find_text
from .cluster import Cluster, running_cluster
from .node import Node

_HERE = Path(__file__).parent
_PROGRAMS = ("podman", "runc", "debootstrap", "sshd", "ssh-keygen", "sudo", "ip", "tc", "unshare", "setpriv")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _HERE in item.path.parents:
            item.add_marker(pytest.mark.lab)
            item.add_marker(pytest.mark.xdist_group("lab"))  # one cluster is enough
            if item.get_closest_marker("timeout") is None:
                item.add_marker(pytest.mark.timeout(600))  # the first test may build the image


@pytest.fixture(scope="session")
def lab_image() -> image.Image:
    """The image with the stand-in engines. Skips, or under CI fails, where the lab cannot be."""
    reason = _missing()
    if reason and os.environ.get("CI") == "true":
        pytest.fail(f"the lab must run here, but: {reason}")
    if reason:
        pytest.skip(reason)
    return image.build()


@pytest.fixture(scope="session")
def cluster(lab_image: image.Image) -> Iterator[Cluster]:
    """Two booted nodes, for the whole session. Leave them as you found them."""
    with running_cluster(2, lab_image) as running:
        yield running


@pytest.fixture
def node(cluster: Cluster) -> Node:
    """The first node."""
    return cluster.nodes[0]


@pytest.fixture
def tidy(cluster: Cluster) -> Iterator[None]:
    """Afterwards no container is left on any node, so that one failure does not cause the next."""
    yield
    for node in cluster.nodes:
        node.exec(["podman", "rm", "--all", "--force", "--time", "0"])


@pytest.fixture
def cluster_file(cluster: Cluster) -> Callable[..., Path]:
    """`cluster_file(folder, n, **more)` writes `Cluster.document(n, **more)` and returns its path."""

    def write(folder: Path, n: int, **more: Any) -> Path:
        path = folder / "cluster.json"
        path.write_text(json.dumps(cluster.document(n, **more), indent=2))
        return path

    return write


@pytest.fixture
def lab_values(cluster: Cluster) -> dict[str, str]:
    """What the placeholders of the shipped configs and the cluster file stand for here."""
    head, *workers = (node.address for node in cluster.nodes)
    return {"changeme-models-mount": "/models", "head-node-ip": head, "worker-node-ip": workers[0]}


@pytest.fixture
def lab_file(cluster: Cluster, lab_values: dict[str, str]) -> Callable[..., Path]:
    """`lab_file(folder, **more)` writes a `lab.toml` with `lab_values`, the image, and `more` paths set."""

    def write(folder: Path, **more: Any) -> Path:
        path = folder / "lab.toml"
        path.write_text(tomli_w.dumps({"values": lab_values, "set": {"container.image": cluster.image, **more}}))
        return path

    return write


@pytest.fixture
def bench(
    cluster: Cluster, cluster_file: Callable[..., Path], lab_file: Callable[..., Path], tmp_path: Path
) -> Iterator[Bench]:
    """Afterwards the nodes are clean, and no token is anywhere, whatever the test did."""
    token = tmp_path / "token"
    token.write_text(CANARY + "\n")
    lab_file(tmp_path, **{"paths.hf_token_file": str(token)})
    for model in MODELS:
        cluster.add_model(model)
    yield Bench(cluster, tmp_path, cluster_file)
    for node in cluster.nodes:
        assert_clean(node, within=LEASE_S)
        assert list(find_text(node, CANARY.encode())) == []
    for path in tmp_path.rglob("*"):
        assert path == token or not path.is_file() or CANARY.encode() not in path.read_bytes(), path


def _missing() -> str:
    if os.geteuid() != 0:
        return "needs root: namespaces, sshd, containers"
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    absent = [name for name in _PROGRAMS if shutil.which(name, path=path) is None]
    return f"tests/lab/install.sh did not run: no {', '.join(absent)}" if absent else ""
