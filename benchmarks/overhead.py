"""What the tool itself costs: a cold `atomcfg plan --dry-run`, and what an execution adds to its cells.

Only the command lines are used. The second part is a rehearsal, so nothing but this machine has a share in it:
overhead is the run's duration without the seconds in which a client was measuring.
"""

from __future__ import annotations

import argparse
import json
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


def run(argv: Sequence[str]) -> float:
    """Seconds that a command takes; its output and exit if it fails."""
    begin = time.perf_counter()
    ran = subprocess.run([sys.executable, *argv], cwd=ROOT, capture_output=True, text=True, check=False)
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


def main() -> None:
    parser = argparse.ArgumentParser(description="What the tool itself costs.")
    parser.add_argument("--repeats", type=int, default=10, help="runs of each cold start (default 10)")
    cold_starts(parser.parse_args().repeats)
    cell_overhead()


if __name__ == "__main__":
    main()
