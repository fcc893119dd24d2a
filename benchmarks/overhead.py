"""What the tool itself costs: a cold `atomcfg plan --dry-run`, and what an execution adds to its cells.

Only the command lines are used. The second part is a rehearsal, so nothing but this machine has a share in it:
overhead is the run's duration without the seconds in which a client was measuring. The third is a rehearsal too, at
the scale of the promise: a server that loads for 10 s, cells that bench for about 20 s.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONFIG = "examples/mi3xx_atom_deepseek-r1_fp8_single.json"
DEMO = ("examples/demo/mi3xx_atom_demo_single.json", "--cluster", "examples/demo/cluster.json")


LOAD_S, BENCH_S = 10.0, 20.0
FIRST_CELL_S, REUSED_CELL_S = 1.5, 1.0  # what a cell may cost beyond its load and its bench


def run(argv: Sequence[str], **env: str) -> float:
    """Seconds that a command takes; its output and exit if it fails."""
    begin = time.perf_counter()
    command = [sys.executable, *argv]
    ran = subprocess.run(command, cwd=ROOT, env={**os.environ, **env}, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - begin
    if ran.returncode != 0:
        sys.exit(f"{' '.join(argv)}: exit {ran.returncode}\n{ran.stdout}{ran.stderr}")
    return seconds


def cold_starts(repeats: int) -> None:
    cases = {
        "bare interpreter": ("-c", "pass"),
        "import atomcfg": ("-c", "import atomcfg"),
        "atomcfg plan --dry-run": ("-m", "atomcfg", "plan", "--dry-run", CONFIG),
    }
    print(f"cold start, {repeats} times each        median       best    over bare")
    bare = 0.0
    for name, argv in cases.items():
        run(argv)  # byte code and the page cache are warm for all alike
        took = [run(argv) for _ in range(repeats)]
        median = statistics.median(took)
        bare = bare or median
        print(f"  {name:28} {median * 1e3:8.0f} ms {min(took) * 1e3:7.0f} ms {(median - bare) * 1e3:9.0f} ms")


def cell_overhead() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        plan, runs = f"{scratch}/plan.json", Path(scratch, "runs")
        run(["-m", "atomcfg", "plan", *DEMO, "-o", plan])
        run(["-m", "atomrun", "rehearse", plan, "--runs", str(runs)])
        (verdicts,) = runs.glob("*/verdicts.json")
        result = json.loads(verdicts.read_text("utf-8"))
    cells = len(result["cells"])
    measuring = sum(cell["seconds"] for cell in result["cells"])
    overhead = result["seconds"] - measuring
    print(f"\nrehearsal, {cells} cells: {result['seconds']:.2f} s, of which {measuring:.2f} s measuring")
    print(f"  overhead a cell: {overhead / cells:.2f} s, in:")
    spent: dict[str, float] = {}
    for stage in result["stages"]:
        spent[stage["stage"]] = spent.get(stage["stage"], 0.0) + stage["seconds"]
    for name, seconds in sorted(spent.items(), key=lambda item: -item[1]):
        print(f"    {name:12} {seconds:7.2f} s{'  (holds the measuring)' if name == 'bench' else ''}")


def promised_cells() -> None:
    """What a cell costs beyond loading and measuring: the first one, which starts a server, and reused ones."""
    levels = ",".join(f'{{"combo":"chat","concurrency":{level}}}' for level in (1, 8, 32))
    sets = ["enforce_thresholds=false", f"sweep.runs=[{levels}]", "params.num_prompts=64"]
    with tempfile.TemporaryDirectory() as scratch:
        plan, runs = f"{scratch}/plan.json", Path(scratch, "runs")
        run(["-m", "atomcfg", "plan", *DEMO, *(word for each in sets for word in ("--set", each)), "-o", plan])
        run(
            ["-m", "atomrun", "rehearse", plan, "--runs", str(runs), "--only", "cells"],
            STANDIN_LOAD_S=str(LOAD_S),
            STANDIN_SPEED="2",
        )
        (verdicts,) = runs.glob("*/verdicts.json")
        result = json.loads(verdicts.read_text("utf-8"))
    measured = {cell["id"]: cell["seconds"] for cell in result["cells"]}
    opened = sum(stage["seconds"] for stage in result["stages"] if stage["stage"] in ("start", "ready")) - LOAD_S
    print(f"\na server ready after {LOAD_S:.0f} s, reused; what a cell costs beyond that and its bench:")
    for number, (name, bench) in enumerate(measured.items()):
        spent = sum(stage["seconds"] for stage in result["stages"] if stage["cell"] == name)
        over, bound = (spent - bench, REUSED_CELL_S) if number else (opened + spent - bench, FIRST_CELL_S)
        word = "within" if over <= bound else "OVER"
        print(f"  {name:16} bench {bench:6.2f} s, overhead {over:5.2f} s, {word} {bound:.1f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description="What the tool itself costs.")
    parser.add_argument("--repeats", type=int, default=10, help="runs of each cold start (default 10)")
    cold_starts(parser.parse_args().repeats)
    cell_overhead()
    promised_cells()


if __name__ == "__main__":
    main()
