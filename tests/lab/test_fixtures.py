"""What the lab hands to tests: files for a launcher, proofs of cleanness, and its own end."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from .checks import assert_clean, find_text, remains
from .cluster import Cluster, running_cluster
from .image import Image, cache_dir
from .node import Node
from .processes import Recorded, wait_until

pytestmark = pytest.mark.usefixtures("tidy")

REPOSITORY = Path(__file__).resolve().parents[2]
CONTAINER = ("docker", "run", "-d", "--name", "X", "--network=host", "--label", "atomrun.run=a-run")


def test_cluster_file_has_what_a_launcher_needs(
    cluster: Cluster, cluster_file: Callable[..., Path], tmp_path: Path
) -> None:
    first, second = (node.address for node in cluster.nodes)
    written = json.loads(cluster_file(tmp_path, 2, username="labuser").read_text())
    assert written["username"] == "labuser"
    assert written["head_node_dict"] == {"mgmt_ip": first}
    assert list(written["node_dict"]) == [first, second]
    assert Path(written["priv_key_file"]).stat().st_mode & 0o077 == 0


def test_lab_file_supplies_what_the_shipped_configs_leave_open(
    cluster: Cluster, lab_file: Callable[..., Path], tmp_path: Path
) -> None:
    written = tomllib.loads(lab_file(tmp_path, **{"profiles.perf.params.num_prompts": 4}).read_text())
    assert written["values"]["changeme-models-mount"] == "/models"
    assert written["values"]["head-node-ip"] == cluster.nodes[0].address
    assert written["set"] == {"container.image": cluster.image, "profiles.perf.params.num_prompts": 4}


def test_model_is_where_a_hugging_face_cache_has_it(cluster: Cluster) -> None:
    cluster.add_model("some-org/Some-Model")
    for node in cluster.nodes:
        folder = node.path("/models/models--some-org--Some-Model")
        revision = (folder / "refs/main").read_text()
        assert (folder / "snapshots" / revision / "config.json").is_file()
        node.exec(["rm", "-r", "/models/models--some-org--Some-Model"])


@pytest.mark.parametrize(("ci", "outcome"), [("", "1 skipped"), ("true", "1 error")])
def test_where_the_lab_cannot_be_its_tests_are_skipped_but_not_in_ci(ci: str, outcome: str) -> None:
    argv = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"{__file__}::test_fresh_node_is_clean"]
    env = {"PATH": "/nowhere", "CI": ci, "HOME": os.environ.get("HOME", "/")}
    done = subprocess.run(argv, cwd=REPOSITORY, env=env, capture_output=True, text=True, timeout=60)
    assert outcome in done.stdout
    assert "install.sh did not run: no podman" in done.stdout


def test_fresh_node_is_clean(cluster: Cluster) -> None:
    for node in cluster.nodes:
        assert_clean(node)


LEFTOVERS = {  # how to leave it, how to remove it, what is said about it
    "process": (
        "ATOMRUN_JOB=run/server setsid -f sleep 3601 >/dev/null 2>&1",
        "kill $(pgrep -xf 'sleep 3601')",
        r"process \d+: sleep 3601",
    ),
    "container": (f"{' '.join(CONTAINER)} IMAGE sleep infinity", "docker rm -f -t 0 X", "container X: .*a-run"),
    "secret": ("mkdir /dev/shm/atomrun.x1", "rmdir /dev/shm/atomrun.x1", r"in memory: atomrun\.x1"),
    "lock": (
        "mkdir -p /var/tmp/atomrun-0 && setsid -f flock /var/tmp/atomrun-0/node.lock sleep 3602 >/dev/null 2>&1",
        "kill $(pgrep -xf 'sleep 3602') && rm -r /var/tmp/atomrun-0",
        r"held: .*node\.lock",
    ),
    "owner": (
        "mkdir -p /var/tmp/atomrun-0/locks && echo run=a-run >/var/tmp/atomrun-0/locks/node.owner",
        "rm -r /var/tmp/atomrun-0",
        r"node\.owner: run=a-run",
    ),
}


@pytest.mark.parametrize(("make", "undo", "told"), LEFTOVERS.values(), ids=LEFTOVERS)
def test_what_is_left_is_told(cluster: Cluster, node: Node, make: str, undo: str, told: str) -> None:
    node.exec(["sh", "-c", make.replace("IMAGE", cluster.image)])
    wait_until(lambda: any(re.match(told, line) for line in remains(node)), f"{told} to be noticed", 5)
    with pytest.raises(AssertionError, match=rf"left on {node.name}:\n  {told}"):
        assert_clean(node)
    node.exec(["sh", "-c", undo])
    assert_clean(node, within=5)


def test_process_in_a_container_is_seen_from_the_node(cluster: Cluster, node: Node) -> None:
    node.exec([*CONTAINER, "--env", "ATOMRUN_JOB=run/client", cluster.image, "sleep", "infinity"])
    seen = re.compile(r"process \d+: sleep infinity")
    wait_until(lambda: any(map(seen.match, remains(node))), "the process to be noticed", 5)
    node.exec(["docker", "rm", "-f", "-t", "0", "X"])
    assert_clean(node)


def test_text_is_found_wherever_a_run_could_leave_it(node: Node) -> None:
    node.exec(["sh", "-c", "echo hush-1 >/home/labuser/kept; TOKEN=hush-1 setsid -f sleep 3603 >/dev/null 2>&1"])
    assert {line.partition(" ")[0] for line in find_text(node, b"hush-1")} == {"process", "home/labuser/kept"}
    node.exec(["sh", "-c", "kill $(pgrep -xf 'sleep 3603'); rm /home/labuser/kept"])
    assert not list(find_text(node, b"hush-1"))


def left_on_this_machine(slot: int, processes: list[Recorded], container: str) -> list[str]:
    groups = [str(path) for path in Path("/sys/fs/cgroup").glob(f"**/*{container}*")]
    links = [name for name in (f"lab{slot}",) if Path("/sys/class/net", name).exists()]
    folders = [str(path) for path in (cache_dir() / "slots").glob(f"{slot}/*")]
    return [*groups, *links, *folders, *(str(process) for process in processes if process.alive)]


def test_nothing_is_left_when_a_cluster_ends(lab_image: Image) -> None:
    with running_cluster(1, lab_image) as cluster:
        (node,) = cluster.nodes
        container = node.exec([*CONTAINER, cluster.image, "sleep", "infinity"]).stdout.strip()
        state = cluster.network.slot, [node.init, cluster.network.switch], container
        assert len(left_on_this_machine(*state)) > 4
    assert left_on_this_machine(*state) == []


def test_killed_session_leaves_no_process_and_the_next_one_removes_its_files(lab_image: Image) -> None:
    script = f"""if True:
        import sys
        from tests.lab.image import build
        from tests.lab.cluster import running_cluster
        with running_cluster(1, build()) as cluster:
            node, switch = cluster.nodes[0], cluster.network.switch
            container = node.exec([*{CONTAINER}, cluster.image, "sleep", "infinity"]).stdout.strip()
            words = cluster.network.slot, container, node.init.pid, node.init.started, switch.pid, switch.started
            print(*words, flush=True)
            sys.stdin.read()
    """
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as session:
        assert session.stdout is not None
        slot, container, *numbers = session.stdout.readline().split()
        session.kill()
    processes = [Recorded(int(pid), started) for pid, started in zip(numbers[::2], numbers[1::2], strict=True)]
    wait_until(lambda: not any(process.alive for process in processes), "the kernel to end the nodes")
    assert left_on_this_machine(int(slot), processes, container)
    with running_cluster(1, lab_image) as cluster:
        if cluster.network.slot != int(slot):
            assert left_on_this_machine(int(slot), processes, container) == []
    assert left_on_this_machine(int(slot), processes, container) == []
