"""The completion scripts complete."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from atomcfg.__main__ import main


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as left:
        main(["--print-completion", shell])
    assert left.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["pl"], ["plan"]),
        (["mig"], ["migrate"]),
        (["explain", "A91"], ["A911", "A912", "A913", "A914"]),
        (["schema", "config-f"], ["config-flat"]),
        (["init", "folder", "mi3xx_atom_qwen"], ["mi3xx_atom_qwen3.5-397b-a17b_fp8_single"]),
        (["check", "--format", "s"], ["sarif"]),
        (["plan", "--config_p"], ["--config_profile"]),
        (["plan", "/usr/bi"], ["/usr/bin"]),
    ],
)
def test_bash_completes(words: list[str], offered: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    ask = (
        f"{script('bash', capsys)}\n"
        'COMP_WORDS=(atomcfg "$@"); COMP_CWORD=$#; _shtab_atomcfg 2>/dev/null; printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    bash = shutil.which("bash")
    assert bash, "bash is part of every machine that this runs on"
    ran = subprocess.run([bash, "-c", ask, "bash", *words], capture_output=True, text=True, check=True)
    assert set(offered) <= set(ran.stdout.split())


@pytest.mark.parametrize("shell", ["zsh", "tcsh"])
def test_other_shells_have_a_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = script(shell, capsys)
    assert all(command in text for command in ("plan", "check", "migrate", "mi3xx_atom_deepseek-r1_fp8_single"))


def test_another_shell_is_a_fault_of_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--print-completion", "fish"])
    assert left.value.code == 2
    assert "invalid choice: 'fish'" in capsys.readouterr().err


def test_without_shtab_a_hint(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    with pytest.raises(SystemExit) as left:
        main(["--print-completion", "bash"])
    assert left.value.code == 2
    assert capsys.readouterr() == ("", "error: completion needs shtab\nhint: pip install 'atomcfg[completion]'\n")
