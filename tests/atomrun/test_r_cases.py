"""What goes wrong while a run goes on, case by case, where no other test is about just that.

`docs/failures.md` lists every case with the test that holds it; `test_the_list_is_whole` keeps the list whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.judging import artifact

from atomrun.channel import AgentHost
from atomrun.fanout import Answers
from atomrun.findings import Finding, verdict_of
from atomrun.firsterror import first_error
from atomrun.host import Completed, HostError
from atomrun.results import CellState, RunVerdict, StageStatus
from atomrun.run import STAGES, execute

from .nodes import job
from .runs import RUN_DIR, Fleet, container_plan, healthy_host, host_script, with_ranks

FleetOf = Callable[..., Fleet]
RESULT = {f"{RUN_DIR}/c0/results.json": artifact().encode()}
LIST = Path(__file__).resolve().parents[2] / "docs/failures.md"


def test_the_list_is_whole() -> None:
    listed = re.findall(r"^\| (R\d\d) \|", LIST.read_text("utf-8"), re.M)
    assert listed == sorted(set(listed))
    assert len(listed) == 67


def test_r01_a_node_that_did_not_answer_is_a_failed_node() -> None:
    answers: Answers[str] = Answers({0: "fine"}, {1: HostError("gpu-b", "timeout", "no answer")})
    with pytest.raises(HostError, match="gpu-b"):
        answers.all()


def test_r02_what_a_transport_says_is_no_output(fleet_of: FleetOf) -> None:
    host = healthy_host()
    host.fail("get", HostError("10.0.0.1", "unreachable", "ABORT: Host Unreachable Error"))
    result = execute(fleet_of(container_plan(), host).run)
    assert result.verdict is RunVerdict.INFRASTRUCTURE
    (cell,) = result.cells
    assert "artifact" not in cell.reason
    assert "Host Unreachable" in cell.reason


def test_r03_a_probes_error_output_decides_nothing(fleet_of: FleetOf) -> None:
    host = healthy_host()
    host.on_start(
        "cell-0.1",
        err=b"cat: /logs/client.log: No such file or directory\nerror error error\n",
        out=b"atomrun: began 20260501-120000\n",
        files=RESULT,
        seconds=42.0,
    )
    assert execute(fleet_of(container_plan(), host).run).cells[0].state is CellState.VALID


def _open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_r15_commands_that_time_out_leave_one_channel(host: AgentHost) -> None:
    before = _open_files()
    for _ in range(6):
        with pytest.raises(HostError, match="killed after"):
            host.run(["sleep", "60"], timeout=0.5)
    assert _open_files() == before
    assert host.run(["echo", "fine"], timeout=20).out == b"fine\n"


def test_r22_a_job_is_no_shell_text(host: AgentHost) -> None:
    word = 'a;b && $HOME `x` "\'\n* {"k":"v"}'
    host.start(job("words", "printf", "%s", word))
    assert host.wait(["words"], 20.0)
    assert host.output("words", "out").decode() == word


def test_r39_a_stage_has_its_place_in_one_list() -> None:
    names = [stage.name for stage in STAGES]
    assert len(names) == len(set(names))
    assert names[-2:] == ["teardown", "report"]
    assert names.index("gpu_metrics") < names.index("teardown")


def test_r52_the_exit_status_outweighs_a_good_artifact(fleet_of: FleetOf) -> None:
    host = healthy_host()
    host.on_start("cell-0.1", 3, files=RESULT)
    (cell,) = execute(fleet_of(container_plan(), host).run).cells
    assert cell.state is CellState.INVALID
    assert cell.reason.startswith("the client ended with status 3")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("No such file or directory, falling back to default", False),
        ("0 errors", False),
        ("INFO retry after error", False),
        ("torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB", True),
        ("Segmentation fault (core dumped)", True),
        ("error: unrecognized arguments: --bogus", True),
    ],
)
def test_r54_lines_explain_only_what_they_are(text: str, found: bool) -> None:
    assert bool(first_error(text + "\n")) is found


def test_r75_nodes_that_differ_are_listed_with_their_difference(fleet_of: FleetOf) -> None:
    hosts = healthy_host(0), healthy_host(1)
    for host, second in zip(hosts, ("mlx5_1", "mlx5_2"), strict=True):
        said = f"hca mlx5_0\nhca {second}\nnetdev ens1\n"
        host.on(*host_script("fabric"), then=Completed(0, said.encode()))
    result = execute(fleet_of(with_ranks(container_plan(), 2), *hosts).run)
    assert result.verdict is RunVerdict.INFRASTRUCTURE
    assert "10.0.0.1 has mlx5_0, mlx5_1; 10.0.0.2 has mlx5_0, mlx5_2" in result.reasons[0]


def test_r30_each_cause_has_its_own_reason() -> None:
    failed = [
        Finding("a", "unreachable", StageStatus.FAILED, "no route"),
        Finding("b", "auth", StageStatus.FAILED, "permission denied"),
    ]
    assert verdict_of("preflight", failed).reason == "no route (and 1 more)"
    assert verdict_of("preflight", failed).node == "a"
