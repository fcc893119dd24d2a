"""A cluster of real nodes on this machine: real sshd, real containers, a network in between."""

from __future__ import annotations

import fcntl
import shutil
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from attrs import frozen

from . import nodefiles
from .faults import FaultProxy
from .image import Image, cache_dir
from .network import Network
from .node import Node, remove
from .processes import Ledger, run

__all__ = ["Cluster", "running_cluster"]

_SLOTS = 32  # clusters that can run side by side on one machine: test sessions and their workers
_PROXY_PORT = 2222


@frozen
class Cluster:
    """Booted nodes, and what a launcher needs to reach them."""

    nodes: tuple[Node, ...]
    image: str
    network: Network
    key: Path
    known_hosts: Path

    def launcher(self, argv: Sequence[str]) -> list[str]:
        """`argv`, made to know the nodes' host keys and no others, as a user's machine would: for whole programs.

        The process keeps its number, so signals go where they are meant to.
        """
        script = 'mount --bind "$1" /etc/ssh && shift && exec "$@"'
        return ["unshare", "--mount", "sh", "-c", script, "launcher", str(self.known_hosts.parent), *argv]

    def add_model(self, model_id: str) -> None:
        """Have a model in `/models` of every node."""
        for node in self.nodes:
            nodefiles.add_model(node.path("/models"), model_id)

    @property
    def ssh_settings(self) -> tuple[str, ...]:
        """`Name=value` settings of `ssh` under which this cluster's keys are the only ones, checked strictly."""
        return (
            "BatchMode=yes",
            "IdentitiesOnly=yes",
            f"IdentityFile={self.key}",
            "StrictHostKeyChecking=yes",
            f"UserKnownHostsFile={self.known_hosts}",
            "GlobalKnownHostsFile=/dev/null",
        )

    @property
    def ssh_options(self) -> list[str]:
        """The same as words of a command line."""
        return [word for setting in self.ssh_settings for word in ("-o", setting)]

    def proxy(self, node: Node) -> FaultProxy:
        """A proxy in front of the node's sshd, at an address and port that `known_hosts` has too."""
        return FaultProxy((self.network.proxy_address(node.number), _PROXY_PORT), (node.address, 22))

    def document(
        self, n: int, *, username: str = "root", proxies: Sequence[FaultProxy] = (), **more: Any
    ) -> dict[str, Any]:
        """A cluster file for the first `n` nodes as CVS writes it, `more` keys added.

        With `proxies`, one for each of these nodes, SSH goes through them; nodes reach one another directly.
        """
        chosen = self.nodes[:n]
        keys = [proxy.address[0] for proxy in proxies] or [node.address for node in chosen]
        through = {"ssh_port": _PROXY_PORT} if proxies else {}
        return {
            "orchestrator": "container",
            "username": username,
            "priv_key_file": str(self.key),
            "head_node_dict": {"mgmt_ip": keys[0]},
            "env_vars": {},
            "node_dict": {
                key: {"bmc_ip": "NA", "vpc_ip": node.address} for key, node in zip(keys, chosen, strict=True)
            },
            "host_key_policy": "strict",
            **through,
            **more,
        }


@contextmanager
def running_cluster(count: int, image: Image) -> Iterator[Cluster]:
    """`count` booted nodes that have the image. When the context ends nothing of them is left."""
    with _slot() as (slot, folder), Ledger(folder / "processes") as ledger:
        network = Network.start(slot, ledger, folder / "network.log")
        key = folder / "id_ed25519"
        run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "lab", "-f", str(key)])
        (folder / "shared").mkdir(mode=0o1777)
        nodes = tuple(
            Node(number, folder / f"gpu{number}", image.store, folder / "shared", network, ledger)
            for number in range(1, count + 1)
        )
        hosts = {node.name: node.address for node in nodes}
        known_hosts_file = folder / "ssh/ssh_known_hosts"  # the name by which ssh finds it below /etc/ssh
        known_hosts_file.parent.mkdir()
        with known_hosts_file.open("w") as known_hosts:
            for node in nodes:
                host_key = nodefiles.write(node.folder, node.name, uuid.uuid4().hex, hosts, key)
                known_hosts.write(f"{node.address},[{network.proxy_address(node.number)}]:{_PROXY_PORT} {host_key}")
        for node in nodes:
            node.boot()
        for node in nodes:
            node.wait_ready()
        yield Cluster(nodes, image.name, network, key, known_hosts_file)


@contextmanager
def _slot() -> Iterator[tuple[int, Path]]:
    """A free slot's number and empty folder. A kernel lock holds it; what is in an unlocked slot is a leftover."""
    base = cache_dir() / "slots"
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    with ExitStack() as stack:
        mine: int | None = None
        for slot in range(_SLOTS):
            lock = (base / f"{slot}.lock").open("w")
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.close()
                continue
            _clear(slot, base / str(slot))
            if mine is None:
                mine = slot
                stack.enter_context(lock)
            else:
                lock.close()
        assert mine is not None, f"{_SLOTS} lab clusters are running"
        folder = base / str(mine)
        folder.mkdir(mode=0o700)
        stack.callback(_clear, mine, folder)
        yield mine, folder


def _clear(slot: int, folder: Path) -> None:
    if folder.exists():
        Ledger(folder / "processes").end_all()
        Network.forget(slot)
        for node in folder.glob("gpu*"):
            remove(node)
        shutil.rmtree(folder)
