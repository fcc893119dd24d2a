"""The stand-in for lm-eval against the files and tables of the real one."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from lm_eval.__main__ import main
from lm_eval.table import render
from lm_eval.tasks import Group, find

from .running import BIN, DATA, MODEL, Engine, Ran, environment, free_port, python, run, start

TASKS = ["gsm8k", "mmlu_pro", "bbh", "hellaswag", "musr", "arc_challenge", "winogrande"]


def evaluate(port: int, folder: Path, *argv: str, chat: bool = False, **env: str) -> Ran:
    path = "chat/completions" if chat else "completions"
    url = f"http://127.0.0.1:{port}/v1/{path}"
    model = ["--model", "local-chat-completions" if chat else "local-completions"]
    arguments = f"base_url={url},model={MODEL},num_concurrent=4,max_retries=2,tokenized_requests=False"
    output = ["--output_path", str(folder)]
    return run(main, [*model, "--model_args", arguments, *output, *argv], **env)


def results(folder: Path) -> dict[str, Any]:
    (file,) = folder.glob("org__model/results_*.json")
    found: dict[str, Any] = json.loads(file.read_text())
    return found


def test_it_is_installed_as_the_plan_wants_it() -> None:
    check = "import importlib.metadata as m, lm_eval, math_verify; print(m.version('lm-eval'), lm_eval.__version__)"
    assert python(["-c", check]).stdout == "0.4.12 0.4.12\n"
    assert importlib.metadata.version("lm_eval") == "0.4.12"


def test_the_document_has_the_real_keys(atom: Engine, tmp_path: Path) -> None:
    done = evaluate(atom.port, tmp_path, "--tasks", "gsm8k", "mmlu_pro,bbh", "--log_samples", "--device", "cuda:0")
    assert done.returncode == 0, done.stderr
    found, real = results(tmp_path), json.loads((DATA / "lm_eval_results.json").read_text())
    assert [key for key in found if key != "standin"] == list(real)
    assert found["results"]["gsm8k"].keys() == real["results"]["gsm8k"].keys()
    for group in ("mmlu_pro", "bbh"):
        assert found["results"][group].keys() == real["results"][group].keys()
        assert found["groups"][group] == found["results"][group]
        assert real["group_subtasks"][group] == [
            task for task in found["group_subtasks"][group] if task in real["group_subtasks"][group]
        ]
    for task in (task for tasks in real["group_subtasks"].values() for task in tasks):
        assert found["results"][task].keys() == real["results"][task].keys()
        assert found["results"][task]["alias"] == real["results"][task]["alias"]
        assert found["versions"][task] == real["versions"][task]
    assert set(real["configs"]["gsm8k"]) - set(found["configs"]["gsm8k"]) == {
        *("dataset_kwargs", "training_split", "test_split", "fewshot_split", "fewshot_config"),
        *("doc_to_text", "doc_to_target", "target_delimiter", "fewshot_delimiter"),
    }
    assert found["config"].keys() == real["config"].keys()
    assert found["n-samples"]["gsm8k"] == {"original": 20, "effective": 20}
    assert (found["lm_eval_version"], found["model_name"], found["standin"]) == ("0.4.12", MODEL, True)
    assert type(found["total_evaluation_time_seconds"]) is str


def test_scores_come_from_the_answers(atom: Engine, tmp_path: Path) -> None:
    assert evaluate(atom.port, tmp_path, "--tasks", ",".join(TASKS), "--log_samples").returncode == 0
    found = results(tmp_path)["results"]
    for task in ("gsm8k", "mmlu_pro", "bbh"):
        scores = [value for key, value in found[task].items() if key.startswith("exact_match,")]
        assert all(0.6 < score <= 1.0 for score in scores)
    assert "acc_norm,none" in found["hellaswag"]
    assert "acc,none" in found["winogrande"]
    assert "acc_norm,none" in found["musr"]
    (samples,) = tmp_path.glob("org__model/samples_gsm8k_*.jsonl")
    lines = [json.loads(line) for line in samples.read_text().splitlines()]
    assert len(lines) == 40
    assert {line["filter"] for line in lines} == {"strict-match", "flexible-extract"}
    right = [line["exact_match"] for line in lines if line["filter"] == "strict-match"]
    assert found["gsm8k"]["exact_match,strict-match"] == sum(right) / len(right)
    assert lines[0]["arguments"]["gen_args_0"]["arg_0"].count("Question:") == 6


def test_a_worse_model_scores_worse(tmp_path: Path) -> None:
    with start("vllm", STANDIN_WRONG_PCT="100") as server:
        assert evaluate(server.port, tmp_path, "--tasks", "gsm8k").returncode == 0
    assert results(tmp_path)["results"]["gsm8k"]["exact_match,strict-match"] == 0.0


def test_the_table_is_the_real_one(atom: Engine, tmp_path: Path) -> None:
    said = evaluate(atom.port, tmp_path, "--tasks", "gsm8k", "--limit", "1", "--num_fewshot", "5").stdout
    expected = [
        line for line in (DATA / "lm_eval_limit1.stdout.txt").read_text().splitlines() if "hella" not in line
    ]
    blank = [line.replace("|    1|", "|    0|") for line in said.splitlines() if line.startswith("|")]
    gsm8k = [
        line.replace("gsm8k    ", "gsm8k").replace("  Tasks  ", "Tasks").replace("---------|", "-----|", 1)
        for line in expected
    ]
    assert blank == [line.replace("|         |", "|     |") for line in gsm8k if line.startswith("|")][:4]
    assert said.startswith("local-completions ({'base_url': ")


def test_groups_come_first_and_their_tasks_below_them() -> None:
    entry = {"alias": "", "acc,none": 0.25, "acc_stderr,none": "N/A"}
    document = {
        "results": {name: {**entry, "alias": name[-1]} for name in ("b", "a", "ga", "gz")},
        "group_subtasks": {"gz": ["a"], "ga": []},
        "versions": {"a": 1.0, "b": 2.5},
        "n-shot": {},
    }
    rows = render(document, "results").splitlines()[2:]
    assert [row.split("|")[1].rstrip() for row in rows] == ["a", "z", " - a", "b"]
    assert [row.split("|")[2] for row in rows] == ["    N/A", "    N/A", "    1.0", "    2.5"]


@pytest.mark.parametrize(("limit", "effective"), [("3", 3), ("0.2", 4)])
def test_a_limit_shows_only_in_the_samples(atom: Engine, tmp_path: Path, limit: str, effective: int) -> None:
    flags = ["--tasks", "gsm8k", "--limit", limit, "--metadata", '{"filter": "strict-match"}']
    assert evaluate(atom.port, tmp_path, *flags).returncode == 0
    found = results(tmp_path)
    assert found["n-samples"]["gsm8k"] == {"original": 20, "effective": effective}
    assert found["configs"]["gsm8k"]["metadata"]["filter"] == "strict-match"
    assert not list(tmp_path.glob("org__model/samples_*"))


def test_one_sample_has_no_error(atom: Engine, tmp_path: Path) -> None:
    assert evaluate(atom.port, tmp_path, "--tasks", "mmlu_pro", "--limit", "1").returncode == 0
    found = results(tmp_path)["results"]
    assert found["mmlu_pro_math"]["exact_match_stderr,custom-extract"] == "N/A"
    assert found["mmlu_pro"]["exact_match_stderr,custom-extract"] == "N/A"


def test_predictions_only(atom: Engine, tmp_path: Path) -> None:
    flags = ["--tasks", "gsm8k,bbh", "--predict_only", "--limit", "1"]
    assert evaluate(atom.port, tmp_path, *flags).returncode == 0
    found = results(tmp_path)["results"]
    assert (found["gsm8k"]["bypass,strict-match"], found["gsm8k"]["bypass,flexible-extract"]) == (999, 999)
    assert list(found["bbh"]) == ["alias", "name", "sample_len"]
    assert list(tmp_path.glob("org__model/samples_gsm8k_*.jsonl"))


def test_chat(atom: Engine, tmp_path: Path) -> None:
    flags = ["--apply_chat_template", "--gen_kwargs", "temperature=0.5,max_gen_toks=30"]
    done = evaluate(atom.port, tmp_path / "x/out.json", "--tasks", "gsm8k", *flags, chat=True)
    assert done.returncode == 0, done.stderr
    (file,) = (tmp_path / "x").glob("out_*.json")
    found = json.loads(file.read_text())
    assert (found["chat_template"], found["fewshot_as_multiturn"]) == ("", True)
    assert found["configs"]["gsm8k"]["generation_kwargs"]["temperature"] == 0.5
    assert found["results"]["gsm8k"]["exact_match,flexible-extract"] > 0.6


def test_a_choice_cannot_be_asked_for_in_a_chat(atom: Engine, tmp_path: Path) -> None:
    done = evaluate(atom.port, tmp_path, "--tasks", "hellaswag", chat=True)
    assert done.returncode == 1
    assert "Loglikelihood is not supported for chat completions" in done.stderr


def test_the_server_is_down(tmp_path: Path) -> None:
    done = evaluate(free_port(), tmp_path, "--tasks", "gsm8k")
    assert done.returncode == 1
    assert "aiohttp.client_exceptions.ClientConnectorError: Cannot connect to host" in done.stderr


def test_the_server_refuses(atom: Engine, tmp_path: Path) -> None:
    done = evaluate(atom.port, tmp_path, "--tasks", "gsm8k", "--gen_kwargs", "max_gen_toks=10000000")
    assert done.returncode == 1
    assert "400" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--tasks", "gsm8k,nosuchtask"], "ValueError: Tasks not found: nosuchtask"),
        (["--tasks", "gsm8k", "--model", "vllm"], "no model for this name found"),
    ],
)
def test_what_is_not_known(tmp_path: Path, argv: list[str], said: str) -> None:
    done = evaluate(1, tmp_path, *argv)
    assert (done.returncode, said in done.stderr) == (1, True)


def test_an_output_that_cannot_be_written_is_only_a_warning(atom: Engine, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = evaluate(atom.port, tmp_path / "file/below", "--tasks", "gsm8k", "--limit", "1")
    assert done.returncode == 0
    assert "WARNING  [loggers.evaluation_tracker:313] Could not save results aggregated" in done.stderr
    assert "|gsm8k|" in done.stdout


@pytest.mark.parametrize(
    ("fault", "code", "whole"),
    [("CLIENT_EXIT", 3, True), ("CLIENT_DIES", 3, None), ("TRUNCATE", 0, False), ("NO_ARTIFACT", 0, None)],
)
def test_faults(atom: Engine, tmp_path: Path, fault: str, code: int, whole: bool | None) -> None:
    env = {f"STANDIN_FAULT_{fault}": str(code or 1)}
    assert evaluate(atom.port, tmp_path, "--tasks", "gsm8k", "--limit", "1", **env).returncode == code
    files = list(tmp_path.glob("org__model/results_*.json"))
    assert (files[0].read_text().endswith("}") if files else None) == whole


def test_the_console_script(tmp_path: Path) -> None:
    done = subprocess.run(
        [str(BIN / "lm_eval"), "--bogus"], env=environment(), text=True, capture_output=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.endswith("lm-eval: error: unrecognized arguments: --bogus\n")


def test_members_of_groups_are_tasks_too() -> None:
    group = find("mmlu_pro")
    assert isinstance(group, Group)
    assert len(group.tasks) == 14
    assert find("mmlu_pro_math") in group.tasks
    assert find("nothing") is None
