"""lm-eval against the live server: the same command whatever the driver."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from atomcfg.model import AccuracyTaskSettings, Settings
from atomcfg.tokens import Token, template

from .base import Arg
from .environment import http_port, located, model

__all__ = ["LM_EVAL_INSTALL", "LM_EVAL_VERSION", "lm_eval_argv"]

LM_EVAL_VERSION = "0.4.12"
LM_EVAL_INSTALL = ("pip", "install", "-q", f"lm-eval[api,math]=={LM_EVAL_VERSION}")

_SEEDS = "0,1234,1234,1234"  # random, numpy, torch, few-shot: lm-eval's own defaults, written out


def lm_eval_argv(settings: Settings, task: AccuracyTaskSettings, output_dir: Token) -> tuple[Arg, ...]:
    """The command for one of `settings.accuracy`; its results land below `output_dir`. It runs on the head."""
    place = f"accuracy.tasks[{settings.accuracy.index(task)}]"
    kind = "chat-completions" if task.apply_chat_template else "completions"
    sources = ("model.id", "params.port_no", f"{place}.num_concurrent")
    return (
        Arg(("lm_eval",)),
        Arg(("--model", f"local-{kind}"), (f"{place}.apply_chat_template",)),
        Arg(("--model_args", _model_args(settings, task)), sources),
        Arg(("--tasks", task.task), (f"{place}.task",)),
        Arg(("--output_path", output_dir)),
        Arg(("--log_samples",)),
        Arg(("--num_fewshot", str(task.num_fewshot)), (f"{place}.num_fewshot",)),
        Arg(("--batch_size", "1")),
        Arg(("--device", "cuda:0")),
        *(Arg((f"--{name}", *values), (f"{place}.{name}",)) for name, values in _stated(settings, task)),
        Arg(("--seed", _SEEDS)),
    )


def _stated(settings: Settings, task: AccuracyTaskSettings) -> Iterator[tuple[str, tuple[Token, ...]]]:
    """The options that are written only when the task states them, in CVS's order."""
    if task.limit is not None:
        yield "limit", (str(task.limit),)
    if task.apply_chat_template:
        yield "apply_chat_template", ()
    if task.metadata:
        yield "metadata", (json.dumps(dict(task.metadata), ensure_ascii=False, sort_keys=True),)
    if task.include_path is not None:
        yield "include_path", (located(task.include_path, settings.paths.models_dir),)
    if task.gen_kwargs:
        yield "gen_kwargs", (_gen_kwargs(task.gen_kwargs),)


def _model_args(settings: Settings, task: AccuracyTaskSettings) -> Token:
    path = "/v1/chat/completions" if task.apply_chat_template else "/v1/completions"
    name = model(settings)
    options = f"num_concurrent={task.num_concurrent},max_retries=3,tokenized_requests=False,trust_remote_code=True"
    url = template("http://127.0.0.1:", http_port(settings), path)
    return template(
        "base_url=", url, ",model=", name, ",tokenizer=", name, ",tokenizer_backend=huggingface,", options
    )


def _gen_kwargs(kwargs: Mapping[str, object]) -> str:
    """`k=v,k2=v2`; JSON where a value would not survive that."""
    plain = all(isinstance(value, bool | int | float) or _is_plain(value) for value in kwargs.values())
    if plain:
        return ",".join(f"{name}={value}" for name, value in sorted(kwargs.items()))
    return json.dumps(dict(kwargs), ensure_ascii=False, sort_keys=True)


def _is_plain(value: object) -> bool:
    return isinstance(value, str) and not set(value) & set(",=")
