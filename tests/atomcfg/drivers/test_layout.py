"""How the user's arguments and the driver's become one argv."""

from __future__ import annotations

from typing import Any

import pytest

from atomcfg.drivers.base import Arg
from atomcfg.drivers.flags import flag_table, read_object, read_words
from atomcfg.drivers.layout import Layout, compose, option, positional
from atomcfg.tokens import Hole, bind, template

from .factory import words

TABLE = flag_table("model port size/-s length cache eager name x y", "cache eager")
PORT = template(bind(Hole.HTTP_PORT, "8000"))
LAYOUT = Layout(
    program=("run",),
    head=(positional("model", "M", ("model", "id")), option("--port", PORT, origins=[("params", "port_no")])),
    leading=(option("--no-cache", free=True), option("--x", "1", free=True)),
    trailing=(option("-s", "8", name="size"), option("--eager", free=True)),
    implied=(option("--name", "M"),),
)


def composed(*given: str) -> str:
    return " ".join(words(compose(LAYOUT, read_words(given, ("args",), TABLE), "/models")))


@pytest.mark.parametrize(
    ("given", "argv"),
    [
        ("", "run M --port 8000 --no-cache --x 1 -s 8 --eager"),
        ("--y 2", "run M --port 8000 --no-cache --x 1 --y 2 -s 8 --eager"),
        # Head: the user's repetition goes.
        ("--model M --y 2 --port=8000", "run M --port 8000 --no-cache --x 1 --y 2 -s 8 --eager"),
        # Leading: the user's words take the default's place, in either polarity, as often as written.
        ("--y 2 --x 3", "run M --port 8000 --no-cache --x 3 --y 2 -s 8 --eager"),
        ("--y 2 --cache", "run M --port 8000 --cache --x 1 --y 2 -s 8 --eager"),
        ("--x 3 --y 2 --x 4", "run M --port 8000 --no-cache --x 3 --x 4 --y 2 -s 8 --eager"),
        # Trailing: the user's words stay where they are, once where the value is fixed.
        ("--size=8 --y 2", "run M --port 8000 --no-cache --x 1 --size=8 --y 2 --eager"),
        ("--size 8 --y 2 -s 8", "run M --port 8000 --no-cache --x 1 --size 8 --y 2 --eager"),
        ("--eager --y 2", "run M --port 8000 --no-cache --x 1 --eager --y 2 -s 8"),
        ("--no-eager", "run M --port 8000 --no-cache --x 1 --no-eager -s 8"),
        # Implied: kept as given, once.
        ("--name M --name=M", "run M --port 8000 --no-cache --x 1 --name M -s 8 --eager"),
        ("stray --y 2", "run M --port 8000 --no-cache --x 1 stray --y 2 -s 8 --eager"),
    ],
)
def test_places(given: str, argv: str) -> None:
    assert composed(*given.split()) == argv


@pytest.mark.parametrize(
    ("arguments", "argv"),
    [
        ({"no-cache": False}, "run M --port 8000 --x 1 -s 8 --eager"),
        ({"cache": False}, "run M --port 8000 --no-cache --x 1 -s 8 --eager"),
        ({"cache": True, "no-cache": False}, "run M --port 8000 --cache --x 1 -s 8 --eager"),
        ({"eager": None}, "run M --port 8000 --no-cache --x 1 -s 8"),
        ({"no-eager": False}, "run M --port 8000 --no-cache --x 1 -s 8 --eager"),
        ({"port": None}, "run M --port 8000 --no-cache --x 1 -s 8 --eager"),
    ],
)
def test_false_takes_our_default_away(arguments: dict[str, Any], argv: str) -> None:
    assert " ".join(words(compose(LAYOUT, read_object(arguments, ("args",), TABLE), "/models"))) == argv


def test_words_know_their_places() -> None:
    args = compose(LAYOUT, read_words(["--port", "8000", "--y", "/models/z"], ("args",), TABLE), "/models")
    assert args[2] == Arg(("--port", PORT), ("params.port_no", "args[0]"))
    assert args[5] == Arg(("--y", template(bind(Hole.MODELS_DIR, "/models"), "/z")), ("args[2]",))


def test_an_option_shows_its_value_as_far_as_it_is_known() -> None:
    assert option("--dir", template(bind(Hole.RUN_DIR), "/x")).value == "<run_dir>/x"
    assert option("--eager").value == ""
    assert positional("model", "M").value == "M"
    assert option("--port", PORT).flag == "--port"
