"""What a user of the lab has: the files of the lab, and the commands of this project as whole programs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import frozen

from .cluster import Cluster

__all__ = ["CANARY", "CELLS", "DEMO", "DISTRIBUTED", "EXAMPLES", "FAULT", "LEASE_S", "MODELS", "Bench", "until"]

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
DEMO = EXAMPLES / "demo/mi3xx_atom_demo_single.json"
DISTRIBUTED = EXAMPLES / "mi3xx_atom_deepseek-r1_fp8_distributed.json"
MODELS = ("Qwen/Qwen3-0.6B", "deepseek-ai/DeepSeek-R1-0528")
CANARY = "hf_EXAMPLEcanary0001abcdef"
LEASE_S = 10.0
CELLS = 'sweep.runs=[{"combo":"chat","concurrency":1},{"combo":"chat","concurrency":8}]'
FAULT = 'roles.server.env={{"STANDIN_FAULT_{}":"{}"}}'


@frozen
class Outcome:
    """One command that has ended."""

    code: int
    out: str
    err: str


@frozen
class Bench:
    """What a user has: files of the lab, and the two commands."""

    cluster: Cluster
    folder: Path
    write_cluster: Callable[..., Path]

    def argv(self, name: str, *args: str) -> list[str]:
        return self.cluster.launcher([sys.executable, "-m", name, *args])

    def tool(self, name: str, *args: str) -> Outcome:
        env = {**os.environ, "COLUMNS": "200"}
        done = subprocess.run(
            self.argv(name, *args),
            cwd=self.folder,
            env=env,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    def plan(self, *sets: str, config: Path = DEMO, nodes: int = 1, **cluster: Any) -> Path:
        """A compiled plan; `cluster` are further keys of the cluster file."""
        path = self.folder / "plan.json"
        options = [word for each in sets for word in ("--set", each)]
        where = str(self.write_cluster(self.folder, nodes, **cluster))
        files = ["--cluster", where, "--lab", str(self.folder / "lab.toml")]
        made = self.tool("atomcfg", "plan", str(config), *files, *options, "-o", str(path))
        assert made.code == 0, made.err
        return path

    def execute(self, plan: Path, *args: str) -> Outcome:
        return self.tool("atomrun", "execute", str(plan), "--runs", str(self.folder / "runs"), *args)

    @contextmanager
    def executing(
        self, plan: Path, *args: str
    ) -> Iterator[tuple[subprocess.Popen[str], Iterator[Mapping[str, Any]]]]:
        """A run under way, and its events."""
        argv = self.argv("atomrun", "execute", str(plan), "--runs", str(self.folder / "runs"), "--json", *args)
        with subprocess.Popen(argv, cwd=self.folder, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                yield process, map(json.loads, process.stdout)
            except BaseException:
                process.terminate()  # so that the nodes are clean for the next test
                raise

    @property
    def run_folder(self) -> Path:
        (folder,) = (self.folder / "runs").iterdir()
        return folder

    @property
    def verdicts(self) -> dict[str, Any]:
        result: dict[str, Any] = json.loads((self.run_folder / "verdicts.json").read_text())
        return result


def until(events: Iterator[Mapping[str, Any]], name: str, status: str = "running") -> Mapping[str, Any]:
    return next(event for event in events if (event["name"], event["status"]) == (name, status))
