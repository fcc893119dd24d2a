"""What the compiler costs, as ratios in one run: cold starts, a large sweep, five hundred pairs of files.

Every figure is processor time (user and system), the median of runs that alternate with what it is compared to, so
that a busy machine slows both. `--quick` repeats less.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from atomcfg.metrics import GATED, METRICS

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
R1 = EXAMPLES / "mi3xx_atom_deepseek-r1_fp8_single.json"
SWEEP_OF = EXAMPLES / "mi3xx_atom_qwen3.5-397b-a17b_fp8_single.json"
COMMAND = (str(Path(sys.executable).with_name("atomcfg")),)
CLUSTER = {
    "orchestrator": "container",
    "username": "tester",
    "priv_key_file": "/home/tester/.ssh/id",
    "head_node_dict": {"mgmt_ip": "10.0.0.1"},
    "node_dict": {"10.0.0.1": {"vpc_ip": "10.0.0.1"}},
}
LIBRARIES = "import attrs, cattrs, jsonschema_rs, argparse"
CELLS = 10_000
PAIRS = 500
MIB = 1 << 20

# In a process of its own, so that the peak of memory is that of one compilation. It prints the seconds to parse,
# the seconds to compile and write, the peak in KiB and the length of the plan.
SWEEP = """
import json, resource, sys, time
import atomcfg
folder, parses = sys.argv[1], int(sys.argv[2])
def read(name):
    with open(f"{folder}/{name}", "rb") as stream:
        return stream.read()
texts = {name: read(name) for name in ("config.json", "sweep_threshold.json", "cluster.json")}
def parse():
    begin = time.process_time()
    for name in ("config.json", "sweep_threshold.json"):
        json.loads(texts[name])
    return time.process_time() - begin
atomcfg.compile(atomcfg.Sources(atomcfg.Source("config", "mi3xx_atom_sweep.json", b"{}")))  # modules and schemas
parsing = [parse() for _ in range(parses)]
begin = time.process_time()
sources = atomcfg.Sources(
    atomcfg.Source("config", "mi3xx_atom_sweep.json", texts["config.json"]),
    cluster=atomcfg.Source("cluster", "cluster.json", texts["cluster.json"]),
    thresholds=(
        atomcfg.Source("threshold", "sweep_threshold.json", texts["sweep_threshold.json"], "sweep_threshold.json"),
    ),
    siblings=("sweep_threshold.json",),
)
result = atomcfg.compile(sources, user="tester")
assert result.plan is not None, result.diagnostics[:3]
with open(f"{folder}/plan.json", "w", encoding="utf-8") as stream:
    stream.write(result.text)
compiling = time.process_time() - begin
parsing += [parse() for _ in range(parses)]
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([sorted(parsing)[parses], compiling, peak, len(result.text)]))
"""


class Figure(NamedTuple):
    """A line of the table; the spread is the range of the middle half of the runs, relative to the median."""

    name: str
    value: str
    bound: str
    holds: bool | None  # None: it has no bound
    spread: str


def processor_time(argv: Sequence[str], cwd: Path = ROOT) -> float:
    """Seconds of processor time that a command takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ran = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ran.returncode > 1:
        sys.exit(f"{' '.join(argv)[:200]}: exit {ran.returncode}\n{ran.stdout}{ran.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def alternate(cases: dict[str, Callable[[], float]], repeats: int) -> dict[str, list[float]]:
    """`repeats` values of each, in turn, after one that does not count."""
    found: dict[str, list[float]] = {name: [] for name in cases}
    for case in cases.values():
        case()
    for _ in range(repeats):
        for name, case in cases.items():
            found[name].append(case())
    return found


def spread(values: Sequence[float]) -> str:
    low, middle, high = statistics.quantiles(values, n=4) if len(values) > 1 else [values[0]] * 3
    return f"{(high - low) / middle:.0%}" if middle else ""


def python(code: str) -> Callable[[], float]:
    return lambda: processor_time((sys.executable, "-c", code))


def command(*words: str) -> Callable[[], float]:
    return lambda: processor_time((*COMMAND, *words))


def cold_starts(repeats: int) -> list[Figure]:
    runs = alternate(
        {
            "bare": python("pass"),
            "argparse": python("import argparse"),
            "libraries": python(LIBRARIES),
            "import": python("import atomcfg"),
            "plan": command("plan", "--dry-run", str(R1)),
            "help": command("--help"),
            "version": command("--version"),
        },
        repeats,
    )
    middle = {name: statistics.median(values) for name, values in runs.items()}
    ratios = [ours / theirs for ours, theirs in zip(runs["plan"], runs["libraries"], strict=True)]
    over = (middle["import"] - middle["bare"]) * 1e3
    figures = [
        ratio("plan --dry-run of R1 / import of its libraries", ratios, 1.6),
        Figure(
            "import atomcfg over the bare interpreter",
            f"{over:.0f} ms",
            "60 ms",
            over <= 60,
            spread(runs["import"]),
        ),
    ]
    for name in ("help", "version"):
        shares = [ours / theirs for ours, theirs in zip(runs[name], runs["argparse"], strict=True)]
        figures.append(ratio(f"--{name} / interpreter with argparse", shares, None))
    return figures


def ratio(name: str, values: Sequence[float], bound: float | None) -> Figure:
    middle = statistics.median(values)
    limit = "" if bound is None else f"{bound:g} x"
    return Figure(name, f"{middle:.2f} x", limit, None if bound is None else middle <= bound, spread(values))


def write_sweep(folder: Path, cells: int) -> None:
    """A flat config of `cells` runs, and thresholds for all gated metrics of each, no two cells with one value."""
    shapes = [{"name": f"c{index}", "isl": 512 + index, "osl": 512} for index in range(-(-cells // 100))]
    runs = [{"combo": f"c{index // 100}", "concurrency": index % 100 + 1} for index in range(cells)]
    config = json.loads(SWEEP_OF.read_text("utf-8"))
    for key in ("sweeps", "runs"):
        config.pop(key, None)
    config["sweep"] = {"sequence_combinations": shapes, "runs": runs}
    config["threshold_json"], config["enforce_thresholds"] = "sweep_threshold.json", True
    config["container"]["image"] = "registry.example/atom:1"
    config["container"]["runtime"]["args"]["volumes"] = ["/home/tester:/home/tester", "/data/models:/models:ro"]
    thresholds = {
        f"ISL={512 + index // 100},OSL=512,TP=8,PP=1,CONC={index % 100 + 1}": {
            metric: bound(metric, index) for metric in GATED
        }
        for index in range(cells)
    }
    for name, value in (("config", config), ("sweep_threshold", thresholds), ("cluster", CLUSTER)):
        (folder / f"{name}.json").write_text(json.dumps(value, indent=2), "utf-8")


def bound(metric: str, index: int) -> dict[str, object]:
    unit = METRICS[metric].unit
    if unit == "tok/s":
        return {"kind": "min_tok_s", "value": 100 + index}
    if unit == "ms":
        return {"kind": "max_ms", "value": 5000 + index}
    return {"kind": "min", "value": 1} if metric == "success_rate" else {"kind": "max", "value": 0}


def sweeps(repeats: int, scratch: Path) -> list[Figure]:
    folders = {}
    for cells in (CELLS // 10, CELLS):
        folders[cells] = scratch / str(cells)
        folders[cells].mkdir()
        write_sweep(folders[cells], cells)
    runs: dict[int, list[list[float]]] = {cells: [] for cells in folders}
    for _ in range(repeats):
        for cells, folder in folders.items():
            ran = subprocess.run(
                (sys.executable, "-c", SWEEP, str(folder), "3"), capture_output=True, text=True, check=True
            )
            runs[cells].append(json.loads(ran.stdout))
    large = runs[CELLS]
    growth = [big[1] / small[1] for big, small in zip(large, runs[CELLS // 10], strict=True)]
    peak = statistics.median(run[2] for run in large) * 1024 / MIB
    size = sum((folders[CELLS] / name).stat().st_size for name in ("config.json", "sweep_threshold.json")) / 1e6
    return [
        ratio(
            f"{CELLS} cells, {size:.0f} MB: compile and write / json.loads", [run[1] / run[0] for run in large], 10
        ),
        ratio(f"{CELLS} cells / {CELLS // 10} cells", growth, 12),
        Figure("its peak memory", f"{peak:.0f} MiB", "450 MiB", peak <= 450, ""),
        Figure("its plan, per cell", f"{large[0][3] / CELLS:.0f} bytes", "", None, ""),
    ]


def pairs(repeats: int, scratch: Path) -> list[Figure]:
    """`atomcfg check` of a folder with 500 configs and the threshold file of each."""
    folder = scratch / "pairs"
    folder.mkdir()
    texts: list[bytes] = []
    stems = [path for path in sorted(EXAMPLES.glob("mi3xx_*.json")) if "threshold_json" in path.read_text("utf-8")]
    for index in range(PAIRS):
        config = json.loads(stems[index % len(stems)].read_text("utf-8"))
        threshold = f"p{index}_threshold.json"
        original = EXAMPLES / str(config.get("threshold_json"))
        config["threshold_json"] = threshold
        made = {
            f"mi3xx_atom_p{index}.json": json.dumps(config, indent=2).encode(),
            threshold: original.read_bytes(),
        }
        for name, data in made.items():
            (folder / name).write_bytes(data)
            texts.append(data)

    def parse() -> float:
        begin = time.process_time()
        for text in texts:
            json.loads(text)
        return time.process_time() - begin

    runs = alternate({"parse": parse, "check": command("check", "-q", str(folder))}, repeats)
    each = [seconds / PAIRS * 1e3 for seconds in runs["check"]]
    shares = [ours / theirs for ours, theirs in zip(runs["check"], runs["parse"], strict=True)]
    return [
        Figure(f"check of {PAIRS} pairs, per pair", f"{statistics.median(each):.1f} ms", "", None, spread(each)),
        ratio("the same / json.loads of its files", shares, None),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description="What the compiler costs.")
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as scratch:
        figures = [
            *cold_starts(5 if quick else 21),
            *sweeps(1 if quick else 5, Path(scratch)),
            *pairs(1 if quick else 3, Path(scratch)),
        ]
    width = max(len(figure.name) for figure in figures)
    print(f"{'':{width}}  {'figure':>10}  {'bound':>8}  {'spread':>6}")
    for name, value, limit, holds, range_ in figures:
        verdict = "" if holds is None else "  holds" if holds else "  DOES NOT HOLD"
        print(f"{name:{width}}  {value:>10}  {limit:>8}  {range_:>6}{verdict}")
    sys.exit(any(figure.holds is False for figure in figures))


if __name__ == "__main__":
    main()
