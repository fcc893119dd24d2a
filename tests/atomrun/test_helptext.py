"""Options in help texts and in commands."""

from __future__ import annotations

import pytest

from atomrun.helptext import options_in, options_of, program_of, stranger_to

HELP = """\
usage: engine [-h] [--tensor-parallel-size N] [--enable-x | --no-enable-x]
options:
  -h, --help            show this help message and exit
  --tensor-parallel-size N, -tp N
                        how many GPUs share a layer: as-many-as you like
  --enable-x, --no-enable-x
  --kv_cache_dtype {auto,fp8}
  --compilation-config JSON, -cc JSON, -O
  --hf-overrides JSON
"""
KNOWN = options_in(HELP)


def test_options_of_a_help_text() -> None:
    assert sorted(KNOWN) == sorted(
        ["-h", "--help", "--tensor-parallel-size", "-tp", "--enable-x", "--no-enable-x", "--kv-cache-dtype",
         "--compilation-config", "-cc", "-O", "--hf-overrides"]
    )  # fmt: skip


@pytest.mark.parametrize(
    ("argv", "program", "options"),
    [
        (("python3", "-m", "a.b", "serve", "org/m", "--x", "1", "--y=2", "--x", "3"), 5, ("--x", "--y")),
        (("engine", "-tp", "8", "--seed", "-1"), 1, ("-tp", "--seed")),
        (("engine",), 1, ()),
    ],
)
def test_a_command_in_its_parts(argv: tuple[str, ...], program: int, options: tuple[str, ...]) -> None:
    assert program_of(argv) == argv[:program]
    assert options_of(argv) == options


@pytest.mark.parametrize(
    "option",
    ["--enable-x", "--no-enable-x", "--kv_cache_dtype", "--kv-cache-dtype", "--tensor-par", "-tp", "-O3",
     "--hf-overrides.rope.type"],
)  # fmt: skip
def test_what_a_program_takes(option: str) -> None:
    assert stranger_to(KNOWN, option) is None


@pytest.mark.parametrize(
    ("option", "near"),
    [("--tensor-paralel-size", "--tensor-parallel-size"), ("--kv-dtype-cache", "--kv-cache-dtype"), ("--bogus", ""),
     ("-q", "")],
)  # fmt: skip
def test_what_it_does_not(option: str, near: str) -> None:
    assert stranger_to(KNOWN, option) == near
