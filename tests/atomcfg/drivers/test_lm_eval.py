"""The lm-eval command beyond what the shipped configurations show."""

from __future__ import annotations

from typing import Any

import pytest

from atomcfg.drivers.lm_eval import LM_EVAL_INSTALL, lm_eval_argv

from .factory import make, words

TASK = {"id": "t", "task": "gsm8k"}


def command(**task: Any) -> str:
    settings = make({"accuracy": {"tasks": [{**TASK, **task}]}, "model": {"id": "/models/x"}})
    return " ".join(
        words(lm_eval_argv(settings, settings.accuracy[0], "/out"), {"models_dir": "/m", "http_port": "1"})
    )


def test_holes_inside_the_model_arguments() -> None:
    assert "base_url=http://127.0.0.1:1/v1/completions,model=/m/x,tokenizer=/m/x," in command()


def test_options_that_a_task_states() -> None:
    stated = command(
        limit=5, metadata={"max_length": 8192, "é": "x"}, include_path="/models/tasks", gen_kwargs={"top_p": 0.5}
    )
    assert (
        '--limit 5 --metadata {"max_length": 8192, "é": "x"} --include_path /m/tasks --gen_kwargs top_p=0.5 --seed'
        in stated
    )


@pytest.mark.parametrize(
    ("kwargs", "text"),
    [
        ({"do_sample": True, "until": "END"}, "do_sample=True,until=END"),
        ({"until": ["a", "b"]}, '{"until": ["a", "b"]}'),
        ({"until": "a,b"}, '{"until": "a,b"}'),
    ],
)
def test_generation_arguments_survive(kwargs: dict[str, Any], text: str) -> None:
    assert f"--gen_kwargs {text} --seed" in command(gen_kwargs=kwargs)


def test_words_name_their_task() -> None:
    settings = make({"accuracy": {"tasks": [TASK, {**TASK, "id": "u", "apply_chat_template": True}]}})
    sources = {source for arg in lm_eval_argv(settings, settings.accuracy[1], "/out") for source in arg.sources}
    assert "accuracy.tasks[1].apply_chat_template" in sources


def test_the_installed_version_is_pinned() -> None:
    assert LM_EVAL_INSTALL == ("pip", "install", "-q", "lm-eval[api,math]==0.4.12")
