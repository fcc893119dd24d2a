"""The tasks that the stand-in knows: lm-eval's names, filters, metrics and versions, with questions of our own.

The questions are of three shapes, which the stand-in servers can answer (`standin.answers`): a sum, a comparison,
a choice of the option that shows a word.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from standin.dialect import Json
from standin.words import random_words

__all__ = ["Document", "Group", "Task", "find"]

_LETTERS = "ABCDEFGHIJ"
_MMLU_PRO = (
    "biology business chemistry computer_science economics engineering health history law math other philosophy "
    "physics psychology"
)
_BBH = (
    "boolean_expressions causal_judgement date_understanding disambiguation_qa dyck_languages formal_fallacies "
    "geometric_shapes hyperbaton logical_deduction_five_objects logical_deduction_seven_objects "
    "logical_deduction_three_objects movie_recommendation multistep_arithmetic_two navigate object_counting "
    "penguins_in_a_table reasoning_about_colored_objects ruin_names salient_translation_error_detection snarks "
    "sports_understanding temporal_sequences tracking_shuffled_objects_five_objects "
    "tracking_shuffled_objects_seven_objects tracking_shuffled_objects_three_objects web_of_lies word_sorting"
)
_MUSR = "murder_mysteries object_placements team_allocation"


@dataclass(frozen=True)
class Document:
    """One question. `target` is the text that the answer is compared with, after the filter."""

    fields: Json
    prompt: str
    shown: str  # the answer as a few-shot example gives it
    target: str


@dataclass(frozen=True)
class Task:
    """One task. `filters` are (name, regular expression) pairs; none for a multiple choice, which has `none`."""

    name: str
    alias: str
    version: float
    fewshot: int
    metrics: tuple[str, ...]
    filters: tuple[tuple[str, str], ...]
    shape: str  # sum | choice | comparison
    documents: int
    dataset: str
    until: tuple[str, ...] = ("Question:",)
    tokens: int = 256  # at most, for one answer

    @property
    def generates(self) -> bool:
        """Whether the answer is generated, or one of several is chosen."""
        return bool(self.filters)

    def all_documents(self) -> list[Document]:
        """The questions, the same at every call."""
        rng = random.Random(self.name)  # noqa: S311 - questions, not secrets
        make = {"sum": _sum, "choice": _choice, "comparison": _comparison}[self.shape]
        return [make(rng) for _ in range(self.documents)]


@dataclass(frozen=True)
class Group:
    """Tasks whose scores are averaged, weighted by their sizes. `version` is a text there."""

    name: str
    version: str
    tasks: tuple[Task, ...]


def find(name: str) -> Task | Group | None:
    """A task or a group by lm-eval's name."""
    return _KNOWN.get(name)


def _sum(rng: random.Random) -> Document:
    first, second, things = rng.randint(2, 60), rng.randint(2, 60), random_words(rng, 1)
    question = f"Ann has {first} {things} and gets {second} more. How many {things} does she have?"
    shown = f"{first}+{second}={first + second}\n#### {first + second}"
    return Document(
        {"question": question, "answer": shown}, f"Question: {question}\nAnswer:", shown, str(first + second)
    )


def _comparison(rng: random.Random) -> Document:
    first, second = rng.sample(range(2, 99), 2)
    question = f"Is {first} larger than {second}?"
    target = "Yes" if first > second else "No"
    prompt = f"Q: {question}\nA: Let's think step by step.\n"
    return Document({"input": question, "target": target}, prompt, f"So the answer is {target}.", target)


def _choice(rng: random.Random) -> Document:
    options = [random_words(rng, 1) + str(number) for number in range(4)]
    right = rng.randrange(len(options))
    question = f"Which option shows the word '{options[right]}'?"
    listed = "\n".join(f"{letter}. {option}" for letter, option in zip(_LETTERS, options, strict=False))
    prompt = f"Question:\n{question}\nOptions:\n{listed}\nAnswer: Let's think step by step."
    letter = _LETTERS[right]
    fields = {"question": question, "options": options, "answer": letter, "answer_index": right}
    return Document(fields, prompt, f"The answer is ({letter}).", letter)


def _choosing(name: str, fewshot: int, metrics: str, dataset: str) -> Task:
    return Task(name, name, 1.0, fewshot, tuple(metrics.split()), (), "choice", 20, dataset)


_GSM8K = Task(
    name="gsm8k",
    alias="gsm8k",
    version=3.0,
    fewshot=5,
    metrics=("exact_match",),
    filters=(
        ("strict-match", r"#### (\-?[0-9\.\,]+)"),
        ("flexible-extract", r"(-?[$0-9.,]{2,})|(-?[0-9]+)"),
    ),
    shape="sum",
    documents=20,
    dataset="openai/gsm8k",
    until=("Question:", "</s>", "<|im_end|>"),
)


def _mmlu_pro(subject: str) -> Task:
    filters = (("custom-extract", r"answer is \(?([ABCDEFGHIJ])\)?"),)
    metrics, dataset = ("exact_match",), "TIGER-Lab/MMLU-Pro"
    return Task(f"mmlu_pro_{subject}", subject, 3.1, 5, metrics, filters, "choice", 4, dataset, tokens=2048)


def _bbh(name: str) -> Task:
    filters = (("get-answer", r"(?<=the answer is )(.*)(?=.)"),)
    stops, full = ("</s>", "Q", "\n\n"), f"bbh_cot_fewshot_{name}"
    return Task(full, name, 4.0, 3, ("exact_match",), filters, "comparison", 3, "SaylorTwift/bbh", stops, 1024)


def _musr(name: str) -> Task:
    return Task(f"leaderboard_musr_{name}", name, 1.0, 0, ("acc_norm",), (), "choice", 8, "TAUR-Lab/MuSR")


_ENTRIES: tuple[Task | Group, ...] = (
    _GSM8K,
    _choosing("hellaswag", 0, "acc acc_norm", "Rowan/hellaswag"),
    _choosing("arc_challenge", 0, "acc acc_norm", "allenai/ai2_arc"),
    _choosing("winogrande", 0, "acc", "allenai/winogrande"),
    _choosing("mmlu", 0, "acc", "cais/mmlu"),
    Group("mmlu_pro", "2.0", tuple(_mmlu_pro(subject) for subject in _MMLU_PRO.split())),
    Group("bbh", "3.0", tuple(_bbh(name) for name in _BBH.split())),
    Group("leaderboard_musr", "1.0", tuple(_musr(name) for name in _MUSR.split())),
    # lm-eval 0.4.12 itself has this one only as leaderboard_musr.
    Group("musr", "1.0", tuple(_musr(name) for name in _MUSR.split())),
)
_KNOWN = {entry.name: entry for entry in _ENTRIES}
_KNOWN |= {task.name: task for entry in _ENTRIES if isinstance(entry, Group) for task in entry.tasks}
