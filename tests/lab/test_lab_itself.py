"""The lab is what it claims to be."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from .cluster import Cluster
from .node import Node

pytestmark = pytest.mark.usefixtures("tidy")

# What a plan's launch looks like, but for --shm-size, which podman refuses here (see below).
RUN = "run -d --name X --network host --ipc host --privileged -v /models:/data --device /dev/dri --device /dev/kfd"
FOREVER = ("sleep", "infinity")


def ssh(cluster: Cluster, target: str, *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["ssh", *cluster.ssh_options, target, *argv], capture_output=True, text=True, timeout=60)


def test_ssh_reaches_each_node_with_strict_host_keys(cluster: Cluster) -> None:
    for node in cluster.nodes:
        done = ssh(cluster, f"root@{node.address}", "hostname")
        assert (done.returncode, done.stdout) == (0, f"{node.name}\n"), done.stderr


def test_a_changed_host_key_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    first, second = cluster.nodes
    swapped = tmp_path / "known_hosts"
    lines = cluster.known_hosts.read_text().splitlines()
    key = next(line for line in lines if line.startswith(f"{second.address},")).partition(" ")[2]
    swapped.write_text(f"{first.address} {key}\n")
    options = [word.replace(str(cluster.known_hosts), str(swapped)) for word in cluster.ssh_options]
    done = subprocess.run(["ssh", *options, f"root@{first.address}", "true"], capture_output=True, text=True)
    assert done.returncode == 255
    assert "Host key verification failed" in done.stderr


def test_a_launcher_knows_the_nodes_without_any_option(cluster: Cluster, node: Node) -> None:
    argv = ["ssh", "-o", "BatchMode=yes", "-i", str(cluster.key), f"root@{node.address}", "hostname"]
    done = subprocess.run(cluster.launcher(argv), capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"{node.name}\n"), done.stderr


def test_an_ordinary_user_may_use_sudo_but_not_docker(cluster: Cluster, node: Node) -> None:
    done = ssh(cluster, f"labuser@{node.address}", "id -un; pwd; docker ps; sudo -n docker ps -q && sudo -n id -un")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["labuser", "/home/labuser", "root"]
    assert "permission denied" in done.stderr


def test_nodes_reach_each_other(cluster: Cluster) -> None:
    for here, there in (cluster.nodes, cluster.nodes[::-1]):
        script = f"exec 3<>/dev/tcp/{there.name}/22 && read -r banner <&3 && echo $banner"
        assert here.exec(["bash", "-c", script]).stdout.startswith("SSH-2.0-")


def test_a_node_has_its_own_everything(cluster: Cluster) -> None:
    first, second = cluster.nodes
    for path in (
        "/tmp",
        "/var/tmp",
        "/dev/shm",
        "/root",
        "/home/labuser",
        "/models",
        "/run",
        "/var/lib/containers",
    ):
        probe = f"{path}/only-here"
        first.exec(["touch", probe])
        assert not second.path(probe).exists()
        assert not Path(probe).exists()
        first.exec(["rm", probe])
    for argv in (["cat", "/proc/sys/kernel/random/boot_id"], ["cat", "/etc/machine-id"], ["hostname"]):
        assert first.exec(argv).stdout != second.exec(argv).stdout
    assert first.exec(["ls", "/sys/class/net"]).stdout.split() == ["eth0", "lo"]
    assert not first.path(str(Path(__file__).parent)).exists()


def test_nodes_share_one_directory(cluster: Cluster) -> None:
    first, second = cluster.nodes
    first.exec(["touch", "/shared/both"])
    second.exec(["rm", "/shared/both"])


def test_stand_in_devices_are_there(node: Node) -> None:
    for path in ("/dev/kfd", "/dev/dri/renderD128", "/dev/infiniband/uverbs0"):
        assert node.path(path).stat().st_rdev == os.makedev(1, 3)  # what /dev/null is, not a device of this machine


@pytest.mark.parametrize("runtime", ["docker", "podman"])
def test_both_runtimes_run_the_image_on_both_nodes_under_one_name(cluster: Cluster, runtime: str) -> None:
    shm = ["--shm-size", "128G"] if runtime == "docker" else []
    for node in cluster.nodes:
        node.exec([runtime, *RUN.split(), *shm, "--label", "lab=itself", cluster.image, *FOREVER])
    for node in cluster.nodes:
        listed = node.exec([runtime, "exec", "X", "sh", "-c", "hostname; ls /dev/dri /dev/kfd; python --version"])
        assert listed.stdout.split()[:4] == [node.name, "/dev/kfd", "/dev/dri:", "card0"]
        node.exec([runtime, "exec", "X", "python3", "-c", "import aiohttp"])
        assert [container["Names"] for container in node.containers("label=lab=itself")] == [["X"]]
        assert FOREVER in {process.argv for process in node.processes()}
        node.exec([runtime, "rm", "-f", "-t", "0", "X"])
        assert node.containers() == []


@pytest.mark.parametrize("tool", ["ibv_devinfo -l", "amd-smi version", "rocm-smi --showuse"])
def test_host_tools_are_on_the_host(node: Node, tool: str) -> None:
    assert node.exec(tool.split()).stdout


@pytest.mark.parametrize(
    "engine",
    [
        "python -m atom.entrypoints.openai_server",
        "python -m atom.benchmarks.benchmark_serving",
        "python3 -m vllm.entrypoints.cli.main serve",
        "python3 -m sglang.launch_server",
        "python3 -m sglang.bench_serving",
        "lm_eval",
    ],
)
def test_engines_are_in_the_image_only(cluster: Cluster, node: Node, engine: str) -> None:
    argv = [*engine.split(), "--help"]
    assert "--" in node.exec(["docker", "run", "--rm", "--network=host", cluster.image, *argv]).stdout
    assert node.exec(argv, check=False).returncode != 0


def test_podman_refuses_what_docker_ignores(cluster: Cluster, node: Node) -> None:
    argv = ["run", "--rm", "--network=host", "--ipc=host", "--shm-size=128G", cluster.image, "true"]
    assert "shmsize" in node.exec(["podman", *argv], check=False).stderr
    node.exec(["docker", *argv])


def test_docker_takes_any_limits(cluster: Cluster, node: Node) -> None:
    limits = ["--ulimit", "memlock=-1", "--ulimit=stack=67108864", "--ulimit", "nofile=500:500"]
    shown = node.exec(
        ["docker", "run", "--rm", "--network=host", *limits, cluster.image, "sh", "-c", "ulimit -s; ulimit -n"]
    )
    assert shown.stdout.split() == ["65536", "500"]


def test_a_missing_image_is_missed_at_once(node: Node) -> None:
    assert node.exec(["docker", "image", "inspect", "localhost/none:1"], check=False).returncode != 0


def test_orphans_are_reaped(node: Node) -> None:
    node.exec(["sh", "-c", "sh -c 'echo $$ >/tmp/orphan; exec sleep 0.1' & exit 0"])
    pid = int(
        node.exec(["sh", "-c", "while ! [ -s /tmp/orphan ]; do :; done; cat /tmp/orphan; rm /tmp/orphan"]).stdout
    )
    node.exec(["sh", "-c", f"while [ -e /proc/{pid} ]; do :; done"], timeout=30)


def test_a_crash_and_a_boot_keep_files_and_change_the_boot_id(cluster: Cluster) -> None:
    node = cluster.nodes[1]
    boot_id = node.exec(["cat", "/proc/sys/kernel/random/boot_id"]).stdout
    node.exec(["docker", *RUN.split(), cluster.image, *FOREVER])
    node.exec(["touch", "/root/kept", "/dev/shm/lost"])
    node.crash()
    assert ssh(cluster, f"root@{node.address}", "-o", "ConnectTimeout=1", "true").returncode == 255
    node.boot()
    node.wait_ready()
    assert node.exec(["cat", "/proc/sys/kernel/random/boot_id"]).stdout != boot_id
    assert node.exec(["ls", "/root/kept", "/dev/shm/"]).stdout.split() == ["/root/kept", "/dev/shm/:"]
    assert [container["Names"] for container in node.containers()] == [["X"]]
    assert node.containers("status=running") == []
    node.exec(["docker", "rm", "X"])
    node.exec(["rm", "/root/kept"])


def test_the_cable_can_be_pulled(cluster: Cluster) -> None:
    here, there = cluster.nodes
    ping = ["bash", "-c", f"exec 3<>/dev/tcp/{there.address}/22 && read -r banner <&3"]
    there.wire.down()
    assert here.exec(["timeout", "0.5", *ping], check=False).returncode == 124
    there.wire.up()
    here.exec(["timeout", "20", *ping])
