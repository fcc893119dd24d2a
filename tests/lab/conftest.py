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

from atomcfg.plan import Node as PlanNode
from atomrun.host import Host
from atomrun.ssh import connect_ssh

from . import image
from .bench import CANARY, LEASE_S, MODELS, Bench
from .checks import assert_clean, find_text
from .cluster import Cluster, running_cluster
from .desk import CANARY as TOKEN
from .desk import MODEL, Desk
from .faults import FaultProxy
from .node import Node

CLEAN_S = 20.0

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


@pytest.fixture
def desk(
    cluster: Cluster, cluster_file: Callable[..., Path], lab_file: Callable[..., Path], tmp_path: Path
) -> Iterator[Desk]:
    """A user's desk. Afterwards the nodes must be clean, whatever the test did."""
    token = tmp_path / "token"
    token.write_text(TOKEN + "\n")
    lab_file(tmp_path, **{"paths.hf_token_file": str(token), "params.num_prompts": 8})
    cluster.add_model(MODEL)
    yield Desk(cluster, tmp_path, cluster_file(tmp_path, 1))
    for node in cluster.nodes:
        assert_clean(node, within=CLEAN_S)


def connect(
    cluster: Cluster, node: Node, *, user: str = "root", proxy: FaultProxy | None = None, timeout: float = 60.0
) -> Host:
    """The agent on a node, over SSH, as the tool itself reaches it."""
    address, port = proxy.address if proxy is not None else (node.address, 22)
    entry = PlanNode(node.number - 1, address, node.address, user, port, str(cluster.key), "strict")
    return connect_ssh(entry, options=cluster.ssh_settings, timeout=timeout)


@pytest.fixture
def noted(request: pytest.FixtureRequest) -> Callable[..., None]:
    """`noted(name=seconds)` keeps what was measured, in the file that `$ATOMCFG_LAB_TIMES` names."""

    def note(**times: float) -> None:
        if path := os.environ.get("ATOMCFG_LAB_TIMES"):
            with Path(path).open("a") as file:
                file.write(json.dumps({"test": request.node.name, **times}) + "\n")

    return note


@pytest.fixture
def host(cluster: Cluster, node: Node) -> Iterator[Host]:
    """The first node, held by the run `lab-1`. Afterwards it must be clean."""
    made = connect(cluster, node)
    made.acquire("lab-1", "tester@lab", 60)
    yield made
    made.release(0)
    made.close()
    assert_clean(node, within=CLEAN_S)


def _missing() -> str:
    if os.geteuid() != 0:
        return "needs root: namespaces, sshd, containers"
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    absent = [name for name in _PROGRAMS if shutil.which(name, path=path) is None]
    return f"tests/lab/install.sh did not run: no {', '.join(absent)}" if absent else ""
