"""What judging and the run deck cost.

Judging: 10,000 cells x 27 metrics from stored measurements, against a bare Python loop of the same comparisons over
the same rows. The deck: 1,000 cells x 27 specs, its seconds and its size. The demo's plan, multiplied.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from attrs import evolve

import atomcfg
from atomcfg.metrics import GATED, METRICS, Direction
from atomcfg.plan import Cell, Plan, Spec
from atomcfg.planio import dump_plan, load_plan
from atomrun.bulk import judged, spec_frame
from atomrun.conclude import Run, conclude
from atomrun.gate import judge_all
from atomrun.report.deck import deck
from atomrun.report.material import Material
from atomrun.results import CellResult, CellState, RunResult, StageResult, StageStatus

ROOT = Path(__file__).resolve().parent.parent
DEMO = ROOT / "examples" / "demo"
NAMES = (*GATED, "request_throughput", "completed")  # 27
FACTOR, DECK_S, DECK_MB = 2.0, 5.0, 8.0


def demo_plan() -> Plan:
    names = {"config": "mi3xx_atom_demo_single.json", "cluster": "cluster.json", "lab": "lab.toml"}
    config, cluster, lab = (atomcfg.Source(role, name, (DEMO / name).read_bytes()) for role, name in names.items())
    thresholds = tuple(
        atomcfg.Source("threshold", path.name, path.read_bytes()) for path in DEMO.glob("*threshold.json")
    )
    result = atomcfg.compile(atomcfg.Sources(config, thresholds=thresholds, cluster=cluster, lab=lab), user="me")
    if result.plan is None:
        sys.exit("\n".join(item.summary for item in result.diagnostics))
    return load_plan(dump_plan(result.plan))


def spec_of(name: str) -> Spec:
    metric = METRICS[name]
    floor = metric.direction is Direction.HIGHER
    kind, value = ("min", 95.0) if floor else ("max", 105.0)
    return Spec(name, kind, value, None, None, metric.unit, metric.tier.value, True, False)


def multiplied(plan: Plan, count: int) -> Plan:
    specs, first = tuple(map(spec_of, NAMES)), plan.cells[0]
    cells = tuple(
        evolve(first, id=f"combo{index // 8}-conc{1 << index % 8}", concurrency=1 << index % 8, specs=specs)
        for index in range(count)
    )
    return evolve(plan, cells=cells)


def values_of(index: int) -> dict[str, float]:
    """Measurements near 100; one in 40 beyond its bound."""
    return {
        name: 100 + (index * 7 + place * 13) % 40 / 8 + (0.2 if place else 0) for place, name in enumerate(NAMES)
    }


def rows_of(plan: Plan) -> list[tuple[str, str, float]]:
    return [(cell.id, *item) for index, cell in enumerate(plan.cells) for item in values_of(index).items()]


def bare_loop(
    specs: list[tuple[str, Spec]], measured: dict[tuple[str, str], float]
) -> list[tuple[str, float | None]]:
    found: list[tuple[str, float | None]] = []
    for owner, spec in specs:
        actual, bound = measured.get((owner, spec.metric)), spec.value
        if actual is None or bound is None:
            found.append(("SKIPPED", None))
            continue
        room = actual - bound if spec.kind == "min" else bound - actual
        found.append(("PASS" if math.isfinite(actual) and room >= 0 else "FAIL", 100 * room / bound))
    return found


def best(repeats: int, work: Callable[[], object]) -> float:
    taken = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


def judging(plan: Plan, count: int, repeats: int) -> bool:
    import polars

    many = multiplied(plan, count)
    rows = rows_of(many)
    specs = [(cell.id, spec) for cell in many.cells for spec in cell.specs]
    frame = spec_frame(specs)
    stored = polars.DataFrame(rows, schema=["owner", "metric", "value"], orient="row")
    measured = {(owner, metric): value for owner, metric, value in rows}
    statuses = [status for status, _ in bare_loop(specs, measured)]
    if judged(frame, stored)["status"].to_list() != statuses:
        sys.exit("the two do not agree")
    bare = best(repeats, lambda: bare_loop(specs, measured))
    bulk = best(repeats, lambda: judged(frame, stored))
    of_cell: dict[str, dict[str, float]] = {}
    for owner, metric, value in rows:
        of_cell.setdefault(owner, {})[metric] = value
    single = best(1, lambda: [judge_all(cell.id, cell.specs, of_cell[cell.id], {}, {}) for cell in many.cells])
    print(f"judge {count:,} cells x {len(NAMES)} specs, {statuses.count('FAIL'):,} fail (median of {repeats})")
    print(f"  bare loop            {bare * 1e3:8.0f} ms")
    print(f"  by columns           {bulk * 1e3:8.0f} ms   {bulk / bare:.2f} x (at most {FACTOR:g} x)")
    print(f"  verdicts with reason {single * 1e3:8.0f} ms   {single / bare:.2f} x")
    return bulk <= FACTOR * bare


def result_of(plan: Plan) -> RunResult:
    cells = tuple(_cell_result(index, cell) for index, cell in enumerate(plan.cells))
    stages = tuple(
        StageResult(name, StageStatus.OK, started=9.0 * index + at, seconds=3.0, cell=cell.id)
        for index, cell in enumerate(plan.cells)
        for at, name in enumerate(("bench", "collect", "judge"))
    )
    run = Run("benchmark", "ssh", "2026-01-01T00:00:00Z", 9.0 * len(cells), cells, (), stages)
    return conclude(plan, run)


def _cell_result(index: int, cell: Cell) -> CellResult:
    values = values_of(index) | {"decode_throughput_p50": 50.0 + index % 9, "duration": 8.0, "max_concurrency": 8.0}
    verdicts = judge_all(
        cell.id, cell.specs, values, {}, {f"{cell.id}/{name}": "threshold.json:12" for name in NAMES}
    )
    return CellResult(cell.id, cell.key, 0, 1, CellState.VALID, "", "", 8.0, values, {}, verdicts)


def drawing(plan: Plan, count: int, repeats: int) -> bool:
    many = multiplied(plan, count)
    result = result_of(many)
    material = Material({f"cell-{number}.log": "a line of a log\n" * 100 for number in range(24)})
    html = deck(result, many, material)  # the charts' bundle is made once for all
    seconds = best(repeats, lambda: deck(result, many, material))
    size = len(html.encode()) / 1e6
    print(f"deck of {count:,} cells x {len(NAMES)} specs")
    print(f"  {seconds:.2f} s (at most {DECK_S:g}), {size:.2f} MB (at most {DECK_MB:g})")
    return seconds <= DECK_S and size <= DECK_MB


def main() -> int:
    parser = argparse.ArgumentParser(description="What judging and the run deck cost.")
    parser.add_argument("--cells", type=int, default=10_000, help="cells to judge (default 10,000)")
    parser.add_argument("--deck", type=int, default=1_000, help="cells in the deck (default 1,000)")
    parser.add_argument("--repeats", type=int, default=5, help="of each timing (default 5)")
    args = parser.parse_args()
    plan = demo_plan()
    fine = [judging(plan, args.cells, args.repeats), drawing(plan, args.deck, min(args.repeats, 3))]
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
