"""Takes one mechanism at a time out of a copy of the sources, and shows that a test of its promise turns red.

`python -m tests.mutations [NAME...]`; needs root for those whose test is below `tests/lab/`. Exit status 1 if a
mutation stays unnoticed, or does not fit the sources any more.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from attrs import frozen

ROOT = Path(__file__).resolve().parents[1]


@frozen
class Mutation:
    """`old` becomes `new` in `file` (below src/); then `test` must fail. `promise` is what is taken away."""

    name: str
    promise: str
    file: str
    old: str
    new: str
    test: str


AGENT = "atomrun/node/agent.sh"
REQUESTS = "atomrun/node/requests.sh"
UNIT, LAB = "tests/atomrun", "tests/lab"

MUTATIONS = (
    Mutation("stop-by-mark", "what left its group is found", AGENT, "kill -KILL $left 2>/dev/null", ": $left",
             f"{UNIT}/test_agent.py::test_stop_finds_what_left_the_group"),
    Mutation("pid-identity", "no innocent process is touched", AGENT, '[ -n "$BORN" ] && [ "$BORN" = "$born" ]',
             '[ -n "$BORN" ]', f"{UNIT}/test_agent.py::test_stop_touches_nobody_else"),
    Mutation("lease", "a dead launcher leaves nothing", AGENT, '-ge "$lease" ]', '-ge 99999 ]',
             f"{UNIT}/test_agent_runs.py::test_the_lease_ends_what_nobody_asks_for"),
    Mutation("secrets-removed", "secrets are gone after the run", AGENT, '    remove_secrets "$1"\n', "",
             f"{UNIT}/test_agent_runs.py::test_secrets_are_private_in_memory_and_gone_after_release"),
    Mutation("crashed-runs", "the next run cleans up after a dead one", REQUESTS, "            crashed\n",
             "            :\n",
             f"{UNIT}/test_agent_runs.py::test_a_run_whose_keeper_died_is_torn_down_by_the_next"),
    Mutation("node-lock", "one run a node", REQUESTS, "if flock -n 8; then", "if true; then",
             f"{UNIT}/test_agent_runs.py::test_one_of_many_gets_the_node"),
    Mutation("fence", "a launcher that was replaced is refused", REQUESTS,
             "finish refused 'another launcher has taken over this run'", ":",
             f"{UNIT}/test_agent_runs.py"),
    Mutation("one-driver", "two launchers never drive one run", REQUESTS, '[ "$4" = 1 ] || alone', ":",
             f"{LAB}/test_promise_channel.py::test_two_launchers_never_drive_one_run"),
    Mutation("start-once", "no job is started twice", REQUESTS,
             'if [ -d "$1" ] && { [ -e "$1/child" ] || ! is_free "$1/alive"; }; then', "if false; then",
             f"{UNIT}/test_agent.py::test_a_second_start_adopts_and_another_content_is_refused"),
    Mutation("adopt", "a killed run goes on", "atomrun/run.py", "adopted - 1 if adopted else ", "",
             f"{LAB}/test_promise_runs.py::test_a_killed_run_goes_on_with_the_same_server_and_client"),
    Mutation("keep-cells", "finished cells are kept", "atomrun/stages/recall.py",
             "run.record.kept[cell.id] = _BEFORE", "pass",
             f"{LAB}/test_promise_runs.py::test_an_interrupted_run_goes_on_and_says_that_it_is_mixed"),
    Mutation("same-image", "nothing is kept under another image", "atomrun/stages/recall.py",
             'for name in ("machine", "image"):', "for name in ():",
             f"{LAB}/test_promise_runs.py::test_nothing_is_kept_under_another_image"),
    Mutation("log-limit", "logs do not fill a disk", AGENT, '        trim_logs "$1" 8>&- 9>&-\n', "",
             f"{UNIT}/test_agent_upkeep.py::test_a_log_beyond_its_limit_keeps_its_beginning_and_its_end"),
    Mutation("prune", "old runs are pruned", AGENT, '    prune "$ROOT" 4>&-\n', "",
             f"{UNIT}/test_agent_upkeep.py::test_old_runs_are_pruned_and_nothing_else"),
    Mutation("full-disk", "an exit status survives a full disk", AGENT,
             """ && printf %8192s '' >"$1/status.new" || exit 1""", """ && : >"$1/status.new" || exit 1""",
             f"{UNIT}/test_agent_disk.py"),
    Mutation("redaction", "no secret is in what is collected", "atomrun/redact.py",
             "data = self._known.sub(MASK, data)", "data = data[:]", f"{UNIT}/test_redact.py"),
    Mutation("cut-secrets", "nor half of one", "atomrun/redact.py", "if left[-size:] == right[:size]", "if False",
             f"{UNIT}/test_redact.py::test_what_a_cut_leaves_of_a_secret_is_masked"),
    Mutation("secret-type", "no rendering shows a secret", "atomrun/secrets.py",
             'raise TypeError("a secret is not pickled, nor copied")', "return Secret, (self.name, self._value)",
             f"{UNIT}/test_secrets.py::test_no_rendering_of_a_secret_shows_it"),
    Mutation("mute-sink", "a closed terminal ends in a teardown", "atomrun/events.py",
             "with suppress(OSError, ValueError):", "with suppress():",
             f"{LAB}/test_promise_exits.py::test_nothing_survives[terminal closed-bench]"),
    Mutation("noise", "login noise is no answer", "atomrun/channel/wire.py",
             "if not line.startswith(self._mark):", "if False:",
             f"{UNIT}/test_channel.py::test_login_noise_is_ignored"),
    Mutation("reconnect", "a lost connection is no failure", "atomrun/channel/reconnect.py",
             "                self._attach(_ATTEMPT_S)\n                failures = 0", "                return",
             f"{UNIT}/test_channel.py::test_a_wait_goes_on_over_a_lost_connection"),
    Mutation("seal", "a changed plan is refused", "atomcfg/planio.py", "if not _is_sealed(document, text):",
             "if False:", f"{UNIT}/cli/test_commands.py::test_a_plan_changed_by_one_byte"),
    Mutation("journal-types", "a forged journal gives an error", "atomrun/replay.py",
             "isinstance(value, bool) or value < 0", "False",
             f"{UNIT}/test_replay.py::test_what_no_run_writes_is_refused"),
    Mutation("one-launcher", "one launcher a run folder", "atomrun/driving.py",
             "fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)", "pass",
             f"{UNIT}/test_driving.py::test_a_second_launcher_is_told_of_the_first"),
    Mutation("quoting", "arguments arrive verbatim", "atomrun/channel/agenthost.py",
             'text = quoted(["set", "--", *(f"{key}={value}" for key, value in settings.items()), *argv])',
             'text = " ".join(["set", "--", *(f"{key}={value}" for key, value in settings.items()), *argv])',
             f"{UNIT}/test_agent.py::test_run_passes_nasty_arguments_in_every_shell"),
)  # fmt: skip


def turns_red(mutation: Mutation) -> str:
    """What happened: "red", or why not."""
    with tempfile.TemporaryDirectory(prefix="mutation-") as name:
        copy = Path(name)
        for folder in ("src", "tests", "examples", "schemas"):
            shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", copy)
        path = copy / "src" / mutation.file
        text = path.read_text()
        if mutation.old not in text:
            return "does not fit the sources"
        path.write_text(text.replace(mutation.old, mutation.new, 1))
        env = {**os.environ, "PYTHONPATH": str(copy / "src")}
        argv = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", mutation.test]
        done = subprocess.run(argv, cwd=copy, env=env, capture_output=True, text=True, timeout=900, check=False)
        if done.returncode == 1:
            return "red"
        return f"not noticed (pytest: {done.returncode} {(done.stdout.strip().splitlines() or [''])[-1]})"


def main(names: list[str]) -> int:
    failed = 0
    for mutation in MUTATIONS:
        if names and mutation.name not in names:
            continue
        outcome = turns_red(mutation)
        failed += outcome != "red"
        print(f"{mutation.name:<16} {mutation.promise:<42} {outcome:<6} {mutation.test}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
