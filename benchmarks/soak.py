"""Short runs under random faults, as root: `python -m benchmarks.soak --minutes 60 --seed 1`.

Each round is a whole run on a node of the lab, and one fault drawn from a seeded generator. Afterwards the node
must be clean and every cell accounted for. The table at the end has what each fault did, and whether anything grew.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import tomli_w
from attrs import define, field
from tests.lab import image
from tests.lab.checks import assert_clean
from tests.lab.cluster import Cluster, running_cluster
from tests.lab.desk import CANARY, MODEL, PHASES, QUICK, Desk, Running
from tests.lab.faults import FaultProxy
from tests.lab.node import Node

LEASE_S = 15
CLEAN_S = 40.0  # lease, grace, and what a loaded machine takes


@define
class Soak:
    """Rounds so far. `grown` is by round: processes, descriptors and kilobytes of the node, ours in memory."""

    cluster: Cluster
    desk: Desk
    proxy: FaultProxy
    plan: Path
    dice: random.Random
    counts: dict[str, list[float]] = field(factory=lambda: defaultdict(list))
    grown: list[tuple[int, int, int, int]] = field(factory=list)
    faults: list[str] = field(factory=list)

    def round(self) -> None:
        name = self.dice.choice(list(FAULTS))
        phase = self.dice.choice(list(PHASES))
        began = time.monotonic()
        with self.desk.running(self.plan, "--lease", str(LEASE_S)) as run:
            run.until(*PHASES[phase])
            time.sleep(self.dice.random())
            FAULTS[name](self, run)
            run.end()
        folder = max((self.desk.folder / "runs").iterdir(), key=lambda path: path.stat().st_mtime)
        if name == "kill, resume":
            self.desk.atomrun("resume", folder.name)
        try:
            assert_clean(self.node, within=CLEAN_S)
            self._account(folder, name)
        except AssertionError as error:
            self.faults.append(f"{name} in {phase}: {error}")
        self.counts[name].append(time.monotonic() - began)
        self.grown.append(measured(self.node))

    @property
    def node(self) -> Node:
        return self.cluster.nodes[0]

    def _account(self, folder: Path, name: str) -> None:
        result = folder / "verdicts.json"
        if name == "kill":
            return  # nobody was left to write it
        cells = json.loads(result.read_text())["cells"]
        assert len(cells) == 2, f"{len(cells)} cells in {result}"
        assert all(cell["state"] == "valid" or cell["reason"] for cell in cells), "a cell without a reason"


def _cut(soak: Soak, _run: Running) -> None:
    soak.proxy.cut()
    time.sleep(soak.dice.uniform(0.5, 4))
    soak.proxy.passing()


def _hole(soak: Soak, _run: Running) -> None:
    soak.proxy.black_hole()
    time.sleep(soak.dice.uniform(0.5, 6))
    soak.proxy.passing()


def _end_sshd(soak: Soak, _run: Running) -> None:
    soak.node.exec(["sh", "-c", "kill -9 $(pgrep -f '[s]shd: root')"], check=False)


def _end_server(soak: Soak, _run: Running) -> None:
    for process in soak.node.processes():
        if "/server-" in process.environment.get("ATOMRUN_JOB", "") and "-m" in process.argv:
            soak.node.exec(["kill", "-9", str(process.pid)], check=False)


def _signals(number: signal.Signals, times: int = 1) -> Callable[[Soak, Running], None]:
    return lambda _soak, run: run.signal(number, times)


FAULTS: dict[str, Callable[[Soak, Running], None]] = {
    "none": lambda _soak, _run: None,
    "cut": _cut,
    "hole": _hole,
    "sshd killed": _end_sshd,
    "server killed": _end_server,
    "ctrl-c": _signals(signal.SIGINT),
    "ctrl-c twice": _signals(signal.SIGINT, 2),
    "term": _signals(signal.SIGTERM),
    "kill": _signals(signal.SIGKILL),
    "kill, resume": _signals(signal.SIGKILL),
}


def measured(node: Node) -> tuple[int, int, int, int]:
    """Processes and open descriptors of the node, kilobytes of our directory there, SSH sessions."""
    descriptors = node.exec(["sh", "-c", "ls /proc/[0-9]*/fd 2>/dev/null | grep -c '^[0-9]'"], check=False).stdout
    size = node.exec(["du", "-sk", "/var/tmp/atomrun-0"]).stdout.split()[0]
    sessions = node.exec(["sh", "-c", "pgrep -fc '[s]shd: root'"], check=False).stdout
    return len(node.pids()), int(descriptors), int(size), int(sessions)


@contextmanager
def soaking(seed: int) -> Iterator[Soak]:
    with running_cluster(1, image.build()) as cluster, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "token").write_text(CANARY + "\n")
        values = {"changeme-models-mount": "/models"}
        sets = {"container.image": cluster.image, "paths.hf_token_file": str(folder / "token")}
        (folder / "lab.toml").write_text(tomli_w.dumps({"values": values, "set": sets}))
        cluster.add_model(MODEL)
        with cluster.proxy(cluster.nodes[0]) as proxy:
            path = folder / "cluster.json"
            path.write_text(json.dumps(cluster.document(1, proxies=[proxy])))
            desk = Desk(cluster, folder, path)
            plan = desk.plan(QUICK, "params.num_prompts=8")
            yield Soak(cluster, desk, proxy, plan, random.Random(seed))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    end = time.monotonic() + args.minutes * 60
    with soaking(args.seed) as soak:
        while time.monotonic() < end:
            soak.round()
    print(f"{'fault':<16}{'rounds':>8}{'mean s':>9}{'worst s':>9}")
    for name, times in sorted(soak.counts.items()):
        print(f"{name:<16}{len(times):>8}{sum(times) / len(times):>9.1f}{max(times):>9.1f}")
    first, last = soak.grown[0], soak.grown[-1]
    for what, before, after in zip(
        ("processes", "descriptors", "KB kept", "ssh sessions"), first, last, strict=True
    ):
        print(f"{what:<16}{before:>8} after the first round, {after} after the last")
    for fault in soak.faults:
        print(f"NOT KEPT: {fault}")
    return 1 if soak.faults else 0


if __name__ == "__main__":
    os.environ.setdefault("PYTHONPATH", "src")
    sys.exit(main())
