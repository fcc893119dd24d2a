"""The commands as a user types them: status, standard output and standard error."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from atomcfg import load_plan
from atomcfg.__main__ import main
from atomcfg.cli.output import use_color
from atomcfg.metrics import GATED
from atomcfg.schemas import schema_names

from .inputs import CLUSTER, CONFIG, KEY, NAME, THRESHOLDS, plan, write

NO_PLAN = "cannot read no.json: No such file or directory|atomcfg plan CONFIG -o plan.json writes one"


def test_a_plan_is_written_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert plan() == 0
    assert load_plan(Path("plan.json").read_text("utf-8")).digest
    assert Path("plan.json").stat().st_mode & 0o777 == 0o644
    assert [path.name for path in Path().iterdir() if path.name.startswith(".")] == []
    assert main(["show", "plan.json"]) == 0
    shown = capsys.readouterr().out
    lines = shown.splitlines()
    assert lines[0] == "plan       mi300x_atom_model_fp8_single, profile perf (default), record-only"
    assert "nodes      head: bob@gpu1 (others use 10.0.0.1)" in lines
    assert "container  a:b (docker, per_run)" in lines
    assert "checks     dmesg scan, quant parity" in lines
    assert "accuracy   g" in lines
    assert "needles    n" in lines
    assert "3 recorded, 1 cannot fail" in shown
    assert "none: recorded" in shown
    assert "at most    2 server starts, 9 h 56 min, 79.5 GPU-hours (if every budget is used up)" in lines
    assert "HF_TOKEN" not in shown


def test_the_plan_goes_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--config_file", NAME, "--cluster_file", "cluster.json"]) == 0
    out, err = capsys.readouterr()
    assert load_plan(out).stem == NAME.removesuffix(".json")
    assert err.splitlines()[-1] == "3 warnings; 2 notes with -v"


def test_a_dry_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert plan("--dry-run", "--commands") == 0
    shown = capsys.readouterr().out
    assert "  server  HF_HUB_CACHE=/m HF_TOKEN=*** python -m atom.entrypoints.openai_server" in shown
    assert "    client  HF_HUB_CACHE=/m" in shown
    assert plan("--dry-run", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["plan_version"]
    assert not Path("plan.json").exists()


def test_commands_are_shown_by_a_dry_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert plan("--commands") == 2
    assert capsys.readouterr().err.startswith("error: --commands belongs to --dry-run")
    assert not Path("plan.json").exists()


def test_several_nodes_baremetal(capsys: pytest.CaptureFixture[str]) -> None:
    nodes = {"gpu1": {}, "gpu2": {}}
    write("cluster.json", {**CLUSTER, "orchestrator": "baremetal", "node_dict": nodes})
    assert plan("--dry-run", "--commands", "--set", "params.nnodes=2") == 0
    shown = capsys.readouterr().out
    assert "TP 8 x PP 1 x DP 2 = 16 GPUs" in shown
    assert "           rank 1: bob@gpu2" in shown
    assert "container  none: baremetal" in shown
    assert "  rank 1  ATOM_DP_MASTER_IP=" in shown


def test_gates_that_are_enforced(capsys: pytest.CaptureFixture[str]) -> None:
    specs = {metric: {"kind": "info"} for metric in GATED} | THRESHOLDS[KEY]
    write("one_threshold.json", {KEY: specs, "ISL=128,OSL=64,TP=8,PP=1,CONC=4": specs})
    assert plan("--dry-run", "--set", "enforce_thresholds=true") == 0
    assert "2 enforced of 25, 1 cannot fail" in capsys.readouterr().out


def test_what_a_lab_must_supply(capsys: pytest.CaptureFixture[str]) -> None:
    write(NAME, {**CONFIG, "container": {**CONFIG["container"], "image": "<changeme>"}})
    assert plan("--dry-run", "-v") == 0
    out, err = capsys.readouterr()
    assert "still open 1 value for a lab to supply before this can run" in out
    assert "warning[A316]" in err
    assert plan() == 2
    Path("lab.toml").write_text('[set]\n"container.image" = "x:y"\n', "utf-8")
    assert plan() == 0
    assert "x:y" in Path("plan.json").read_text("utf-8")


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["plan"], "plan needs a config|atomcfg plan CONFIG; atomcfg list shows the shipped ones"),
        (["plan", NAME, "--set", "a"], "--set a: there is no value|write --set PATH=VALUE"),
        (["plan", NAME, "--set", "=5"], "--set =5: there is no value|write --set PATH=VALUE"),
        (["explain", "A20"], 'no diagnostic is called "A20"|did you mean A201?'),
        (["explain", "hello"], 'no diagnostic is called "hello"|codes look like A204'),
        (["schema", "clustr"], 'no schema is called "clustr"|did you mean "cluster"?'),
        (["schema", "x"], f'no schema is called "x"|known: {", ".join(schema_names())}'),
        (["check", "nothing.json"], "no file or folder nothing.json"),
        (["check", "empty"], "no JSON file there"),
        (["show", NAME], f"{NAME}: not a plan: there is no plan_version|compile it again with atomcfg plan"),
        (["show", "no.json"], NO_PLAN),
        (["trace", "no.json"], NO_PLAN),
        (["diff", "plan.json", "no.json"], NO_PLAN),
        (["show", "bytes.json"], "bytes.json is not a plan: it is not UTF-8"),
        (["show", "plan.json", "--cell", "c-conc6"], 'no cell "c-conc6"|did you mean "c-conc64"?'),
        (["show", "plan.json", "--cell", "zzz"], 'no cell "zzz"|the cells are c-conc64, d-conc4'),
        (
            ["trace", "plan.json", "params.nodes"],
            'no value "params.nodes" in this plan|did you mean "params.nnodes"?',
        ),
    ],
)
def test_usage(argv: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("empty").mkdir()
    Path("bytes.json").write_bytes(b"\xff")
    assert plan() == 0
    capsys.readouterr()
    assert main(argv) == 2
    said, _, hint = message.partition("|")
    assert capsys.readouterr() == ("", f"error: {said}\n" + (f"hint: {hint}\n" if hint else ""))


def test_a_plan_that_cannot_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert plan(output="nowhere/plan.json") == 2
    assert (
        capsys.readouterr().err.splitlines()[-1]
        == "error: cannot write nowhere/plan.json: No such file or directory"
    )


def test_strict(capsys: pytest.CaptureFixture[str]) -> None:
    assert plan("--strict") == 1
    assert not Path("plan.json").exists()
    assert "error: no plan: warnings count as errors here" in capsys.readouterr().err
    assert main(["check", "--strict", NAME]) == 1
    assert main(["check", NAME]) == 0


def test_quiet_and_verbose(capsys: pytest.CaptureFixture[str]) -> None:
    Path(NAME).write_bytes(b"\xef\xbb\xbf" + Path(NAME).read_bytes())
    said = {}
    for option in ("-q", "-v", "--color=always"):
        assert main(["plan", NAME, "--cluster", "cluster.json", "-o", "plan.json", option]) == 0
        said[option] = capsys.readouterr().err
    assert said["-q"] == ""
    assert "note[A102]" in said["-v"]
    assert said["-v"].endswith("3 warnings, 3 notes\n")
    assert said["--color=always"].startswith("\x1b[1;33mwarning[")
    assert said["--color=always"].endswith("3 warnings; 3 notes with -v\n")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("choice", "environment", "stream", "expected"),
    [
        ("auto", {}, Terminal(), True),
        ("auto", {"NO_COLOR": "1"}, Terminal(), False),
        ("auto", {"NO_COLOR": ""}, Terminal(), True),
        ("auto", {"TERM": "dumb"}, Terminal(), False),
        ("auto", {}, io.StringIO(), False),
        ("always", {"NO_COLOR": "1"}, io.StringIO(), True),
        ("never", {}, Terminal(), False),
    ],
)
def test_color(
    choice: str, environment: dict[str, str], stream: io.StringIO, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert use_color(choice, stream) is expected


def test_check_takes_files_and_folders(capsys: pytest.CaptureFixture[str]) -> None:
    for name in (".hidden", "more"):
        Path(name).mkdir()
        write(f"{name}/x_threshold.json", {"a": 1})
    assert main(["check", "."]) == 2
    out, err = capsys.readouterr()
    assert 'error[A201]: unknown key "a"\n  --> more/x_threshold.json' in out
    assert err == "4 files: 1 error, 3 warnings, 2 notes\n"
    assert main(["check", "cluster.json", "-q"]) == 0
    assert capsys.readouterr() == ("", "1 file: nothing found\n")


@pytest.mark.parametrize(("kind", "start"), [("json", "{"), ("sarif", "{"), ("github", "::error ")])
def test_check_for_machines(kind: str, start: str, capsys: pytest.CaptureFixture[str]) -> None:
    write("x_threshold.json", {"a": 1})
    assert main(["check", "x_threshold.json", "--format", kind]) == 2
    out, err = capsys.readouterr()
    assert out.startswith(start)
    assert err == ""


def test_check_looks_at_every_profile(capsys: pytest.CaptureFixture[str]) -> None:
    profiles = {"perf": {}, "fast": {"params": {"pipeline_parallel_size": 2}}}
    write(NAME, {**CONFIG, "profiles": profiles})
    assert plan("-v") == 0
    assert "warning[A608]: in profile fast: driver atom has no pipeline parallelism" in capsys.readouterr().err
    assert main(["check", NAME]) == 2
    assert "error[A608]: in profile fast: driver atom has no pipeline parallelism" in capsys.readouterr().out


def test_explain_and_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", " a205 "]) == 0
    assert capsys.readouterr().out.startswith("A205: The top level is no object\n")
    assert main(["schema"]) == 0
    assert capsys.readouterr().out.split() == list(schema_names())
    assert main(["schema", "cluster"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "Cluster"


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["STEM", "PROFILES", "DRIVER", "NODES", "MODEL"]
    row = next(line for line in lines if line.startswith("mi3xx_atom_deepseek-r1_fp8_distributed "))
    assert row.split()[1:] == ["perf", "vllm_atom", "2", "deepseek-ai/DeepSeek-R1-0528"]
    assert lines[-1].startswith("in /")


def test_show_one_cell(capsys: pytest.CaptureFixture[str]) -> None:
    assert plan() == 0
    assert main(["show", "plan.json", "--cell", "d-conc4", "--commands"]) == 0
    shown = capsys.readouterr().out
    assert "d-conc4" in shown
    assert "c-conc64" not in shown


def test_trace(capsys: pytest.CaptureFixture[str]) -> None:
    assert plan("--set", "params.num_prompts=500") == 0
    assert main(["trace", "plan.json", "params.num_prompts"]) == 0
    assert capsys.readouterr().out == (
        "params.num_prompts = 500\n  from  --set\n  into  client argv --num-prompts\n"
    )
    assert main(["trace", "plan.json", "params", "--format", "json"]) == 0
    entries = {entry["path"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert entries["params.seed"]["source"] == "default"
    assert entries["params.max_model_length"]["source"] == f"{NAME}:35"
    assert main(["trace", "plan.json"]) == 0
    assert "params.port_no = 8000\n  from  default\n" in capsys.readouterr().out


def test_diff(capsys: pytest.CaptureFixture[str]) -> None:
    assert plan() == 0
    assert plan("--set", "params.port_no=9000", output="other.json") == 0
    assert main(["diff", "plan.json", "plan.json"]) == 0
    assert capsys.readouterr().out.startswith("no change in meaning, digest ")
    assert main(["diff", "plan.json", "other.json"]) == 1
    assert "    --server-port: 8000 -> 9000\n" in capsys.readouterr().out
    assert main(["diff", "plan.json", "other.json", "--format", "json"]) == 1
    assert {change["after"] for change in json.loads(capsys.readouterr().out)} >= {"9000"}
