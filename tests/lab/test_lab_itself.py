"""The lab is what it claims to be."""

from __future__ import annotations

import subprocess

from .cluster import Cluster


def ssh(cluster: Cluster, target: str, *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["ssh", *cluster.ssh_options, target, *argv], capture_output=True, text=True, timeout=60)


def test_ssh_reaches_each_node_with_strict_host_keys(cluster: Cluster) -> None:
    for node in cluster.nodes:
        done = ssh(cluster, f"root@{node.address}", "hostname")
        assert (done.returncode, done.stdout.strip()) == (0, node.name), done.stderr
