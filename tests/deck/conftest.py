from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .browser import Browser, missing, running_browser

_HERE = Path(__file__).parent
_ROOT = _HERE.parent.parent
DEMO = _ROOT / "examples" / "demo"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.xdist_group("browser"))


@pytest.fixture(scope="session", autouse=True)
def bundle_cache(request: pytest.FixtureRequest) -> Iterator[None]:
    """The charts' bundle takes seconds to make: it is kept from one test run to the next, away from the user's."""
    cache = request.config.cache
    assert cache is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(cache.mkdir("bundles")))
        yield


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Skips, or under CI fails, where there is none."""
    reason = missing()
    if reason and os.environ.get("CI") == "true":
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)
    with running_browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture(scope="session")
def rehearsed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a rehearsal of the demo, GPU poll and accuracy included, with one bound that it must miss,
    beside an earlier run and another driver."""
    folder = tmp_path_factory.mktemp("rehearsal")
    for path in DEMO.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    _tighten(folder / "mi3xx_atom_demo_threshold.json")
    _run(
        "atomcfg", "plan", "mi3xx_atom_demo_single.json", "--cluster", "cluster.json", "-o", "plan.json",
        "--set", 'platform={"dmesg_scan": true, "gpu_metrics_poll": true}', "--set", "params.num_prompts=600",
        "--set", 'accuracy={"tasks": [{"id": "gsm8k", "task": "gsm8k"}]}', cwd=folder,
    )  # fmt: skip
    _run("atomrun", "rehearse", "plan.json", "-q", cwd=folder, codes=(1, 3, 4))
    (run,) = (folder / "runs").iterdir()
    report = json.loads((run / "report.json").read_text())
    earlier, other = report | {"run_id": "earlier"}, report | {"run_id": "other", "driver": "another"}
    (folder / "runs" / "prev_report.json").write_text(json.dumps(earlier))
    (folder / "parity.json").write_text(json.dumps(other))
    _run("atomrun", "report", run.name, "--parity", "parity.json", cwd=folder)
    return run


def _tighten(path: Path) -> None:
    """The regression: one cell is asked for more than it can do."""
    document = json.loads(path.read_text())
    key = next(name for name in document if "CONC=32" in name)
    document[key]["output_throughput"] = {"kind": "min_tok_s", "value": 1e7}
    path.write_text(json.dumps(document, indent=2))


def _run(*argv: str, cwd: Path, codes: tuple[int, ...] = (0,)) -> None:
    module, *rest = argv
    done = subprocess.run(
        [sys.executable, "-m", module, *rest], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode in codes, done.stdout + done.stderr
