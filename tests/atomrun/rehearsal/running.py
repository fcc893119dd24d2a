"""Stand-ins in processes of their own: waited for by reading what they print, ended by their pid."""

from __future__ import annotations

import importlib
import io
import json
import os
import socket
import subprocess
import sys
import threading
import traceback
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

__all__ = ["BIN", "DATA", "ENGINES", "MODEL", "Engine", "Ran", "bench", "client", "run", "start"]

ROOT = Path(__file__).resolve().parents[3]
ENGINES = ROOT / "src/atomrun/rehearsal/engines"
BIN = ROOT / "src/atomrun/rehearsal/bin"
DATA = ROOT / "tests/data/standin"
MODEL = "org/model"
PATIENCE_S = 60

Main = Callable[[Sequence[str], Mapping[str, str]], int]

_VLLM = ("-m", "vllm.entrypoints.cli.main")
_SERVERS = {
    "atom": ("-m", "atom.entrypoints.openai_server", "--model", MODEL, "--server-port"),
    "vllm": (*_VLLM, "serve", MODEL, "--port"),
    "sglang": ("-m", "sglang.launch_server", "--model-path", MODEL, "--host", "127.0.0.1", "--port"),
}
_READY = {"atom": "Uvicorn running on", "vllm": "Application startup complete", "sglang": "ready to roll"}


@define
class Engine:
    """A running server and the lines that it has printed so far."""

    process: subprocess.Popen[str]
    port: int
    lines: list[str] = field(factory=list)
    reader: threading.Thread | None = None

    def until(self, text: str) -> str:
        """Read up to the first line with `text`; it fails the test that the output ends before."""
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))
            if text in line:
                return self.lines[-1]
        raise AssertionError(f"no line with {text!r} in:\n" + "\n".join(self.lines))

    def follow(self) -> None:
        """Go on reading in the background, so that the server never waits for a reader."""

        def read() -> None:
            assert self.process.stdout
            self.lines.extend(line.rstrip("\n") for line in self.process.stdout)

        self.reader = threading.Thread(target=read)
        self.reader.start()

    def end(self) -> int:
        """TERM if it still runs, then its exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        return self.wait()

    def wait(self) -> int:
        """The exit code, with all lines read."""
        if self.reader is None:
            self.follow()
        code = self.process.wait(PATIENCE_S)
        assert self.reader
        assert self.process.stdout
        self.reader.join(PATIENCE_S)
        self.process.stdout.close()
        return code

    def get(self, path: str) -> tuple[int, str]:
        """Status and body of a GET."""
        return _asked(urllib.request.Request(f"http://127.0.0.1:{self.port}{path}"))

    def post(self, path: str, patience_s: float = PATIENCE_S, **body: Any) -> tuple[int, str]:
        """Status and body of a POST of JSON. Raises `TimeoutError`."""
        data = json.dumps({"model": MODEL, **body}).encode()
        return _asked(urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data), patience_s)

    def events(self, path: str, **body: Any) -> list[Any]:
        """The frames of a streamed answer, `[DONE]` last."""
        status, text = self.post(path, stream=True, **body)
        assert status == 200, text
        frames = [event.removeprefix("data: ") for event in text.strip().split("\n\n")]
        return [frame if frame == "[DONE]" else json.loads(frame) for frame in frames]


def _asked(request: urllib.request.Request, patience_s: float = PATIENCE_S) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(request, timeout=patience_s) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def free_port() -> int:
    """A port that nothing uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def environment(**extra: str) -> dict[str, str]:
    """Fast stand-ins, and nothing of what this machine exports for real ones."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    quick = {"STANDIN_LOAD_S": "0.01", "STANDIN_SPEED": "1000", "STANDIN_PEER_GRACE_S": "0.01"}
    return {"PATH": path, "PYTHONPATH": str(ENGINES), "COLUMNS": "200", **quick, **extra}


def launch(engine: str, argv: Sequence[str] = (), port: int = 0, **env: str) -> Engine:
    """A server that has just been started."""
    port = port or free_port()
    command = [sys.executable, *_SERVERS[engine], str(port), *argv]
    process = subprocess.Popen(
        command, env=environment(**env), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    return Engine(process, port)


@contextmanager
def start(engine: str, argv: Sequence[str] = (), **env: str) -> Iterator[Engine]:
    """A server that is ready, for the time of the block."""
    made = launch(engine, argv, **env)
    try:
        made.until(_READY[engine])
        made.follow()
        yield made
    finally:
        made.process.kill()
        made.wait()


def python(argv: Sequence[str], cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    """A finished run of the interpreter."""
    command = [sys.executable, *argv]
    return subprocess.run(
        command, env=environment(**env), cwd=cwd, text=True, capture_output=True, timeout=PATIENCE_S, check=False
    )


@frozen
class Ran:
    """A program that ran to its end in this process."""

    returncode: int
    stdout: str
    stderr: str


def run(main: Main, argv: Sequence[str], **env: str) -> Ran:
    """Run a program's `main` here, which is far quicker than a process of its own; a traceback is exit code 1."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = main(argv, environment(**env))
        except SystemExit as ended:
            code = int(ended.code or 0)
        except Exception:  # noqa: BLE001 - whatever a program raises, its user sees a traceback
            traceback.print_exc()
            code = 1
    return Ran(code, out.getvalue(), err.getvalue())


def client(engine: str, port: int, *argv: str, **env: str) -> Ran:
    """A finished run of an engine's benchmark client with a little load."""
    url = f"http://127.0.0.1:{port}"
    load = [
        "--random-input-len",
        "64",
        "--random-output-len",
        "24",
        "--num-prompts",
        "12",
        "--max-concurrency",
        "4",
    ]
    program = {
        "atom": "atom.benchmarks.benchmark_serving",
        "vllm": "vllm.entrypoints.cli.main",
        "sglang": "sglang.benchmark.serving",
    }[engine]
    head = {
        "atom": ["--base-url", url, "--save-result", "--ignore-eos"],
        "vllm": ["bench", "serve", "--backend", "vllm", "--base-url", url, "--save-result"],
        "sglang": ["--backend", "sglang", "--host", "127.0.0.1", "--port", str(port)],
    }[engine]
    flags = ["--model", MODEL, "--dataset-name", "random", "--disable-tqdm", *load]
    return run(importlib.import_module(program).main, [*head, *flags, *argv], **env)


def bench(engine: str, port: int, folder: Path, *argv: str, **env: str) -> dict[str, Any]:
    """The result of a benchmark that went well."""
    file = folder / "result.json"
    where = (
        ["--output-file", str(file)] if engine == "sglang" else ["--result-dir", str(folder), "--result-filename"]
    )
    done = client(engine, port, *where, *([] if engine == "sglang" else [file.name]), *argv, **env)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(file.read_text())
    return found


def labels(text: str) -> list[str]:
    """What a result table says but for its numbers, from its first line to its last."""
    lines = text[text.index("============ Serving") :].splitlines()
    return [line[:40].rstrip() if ":" in line else line for line in lines]


def without_server_mark(result: Mapping[str, Any]) -> list[str]:
    """The keys of a result but for the one that says that it is a stand-in's."""
    assert result["standin"] is True
    return [key for key in result if key != "standin"]
