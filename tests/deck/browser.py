"""A headless Chromium, driven over its debugging pipe: no driver package, no port, no network."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["Browser", "Page", "missing", "running_browser"]

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    "--no-sandbox",  # tests may run as root, in a container; only our own pages are opened
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",  # the network is off
    "--proxy-server=http://127.0.0.1:9",
)


def missing() -> str:
    """Why there is no browser; "" if there is one."""
    return "" if _program() else f"none of {', '.join(NAMES)} is installed (tests/deck/install.sh)"


def _program() -> str | None:
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    """The pipe: messages are JSON, each ended by a zero byte."""

    def __init__(self, reads: int, writes: int) -> None:
        self._reads, self._writes = os.fdopen(reads, "rb"), os.fdopen(writes, "wb")
        self._number = 0
        self._rest = b""
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, session: str = "", **params: Any) -> dict[str, Any]:
        """The result of a command; events that come meanwhile are kept."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        self._writes.write(json.dumps(message).encode() + b"\0")
        self._writes.flush()
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    def wait(self, method: str) -> None:
        """Until an event of this name came."""
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self._next())

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            more = os.read(self._reads.fileno(), 1 << 16)
            assert more, "the browser is gone"
            self._rest += more
        text, _, self._rest = self._rest.partition(b"\0")
        answer: dict[str, Any] = json.loads(text)
        return answer

    def close(self) -> None:
        self._writes.close()
        self._reads.close()

    def open(self, path: Path, width: int = 1400, height: int = 900) -> Page:
        """A page of its own, once it has loaded and drawn its charts."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, target, session)
        self.events.clear()
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        page.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )
        page.call("Page.navigate", url=path.resolve().as_uri())
        self.wait("Page.loadEventFired")
        page.run(
            "Promise.race([new Promise(done => setTimeout(done, 20000)), (async () => {"
            "while (document.querySelectorAll('[data-chart]:not(.drawn)').length)"
            " await new Promise(done => setTimeout(done, 20)) })()])"
        )
        return page


class Page:
    """One document."""

    def __init__(self, browser: Browser, target: str, session: str) -> None:
        self._browser, self._target, self._session = browser, target, session

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        return self._browser.call(method, self._session, **params)

    def run(self, expression: str) -> Any:
        """What a JavaScript expression evaluates to, awaited, as JSON."""
        found = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def count(self, selector: str) -> int:
        return int(self.run(f"document.querySelectorAll({json.dumps(selector)}).length"))

    def text(self, selector: str) -> str:
        """The visible text of the first that matches, on one line."""
        return " ".join(str(self.run(f"document.querySelector({json.dumps(selector)}).innerText")).split())

    def click(self, selector: str) -> None:
        self.run(f"document.querySelector({json.dumps(selector)}).click()")

    def centre(self, selector: str) -> tuple[float, float]:
        """Where the middle of an element is, once it is in view."""
        middle = (
            "(e => { e.scrollIntoView({block: 'center'}); const box = e.getBoundingClientRect();"
            " return [box.x + box.width / 2, box.y + box.height / 2] })"
        )
        x, y = self.run(f"{middle}(document.querySelector({json.dumps(selector)}))")
        return x, y

    def press(self, key: str, code: str = "") -> None:
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=code or key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=code or key)

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def media(self, media: str = "screen", scheme: str = "light") -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)

    def picture(self, path: Path) -> None:
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def printed(self) -> bytes:
        """The page as PDF."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])

    @property
    def complaints(self) -> list[str]:
        """Errors and warnings of the console, exceptions, entries of the log."""
        found = []
        for event in self._browser.events:
            params = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(str(params["exceptionDetails"]))
            elif event.get("method") == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
                found.append(str(params["args"]))
            elif event.get("method") == "Log.entryAdded":
                found.append(str(params["entry"]))
        return found

    @property
    def requested(self) -> list[str]:
        """Every address that was asked for."""
        sent = [event for event in self._browser.events if event.get("method") == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]

    def close(self) -> None:
        self._browser.call("Target.closeTarget", targetId=self._target)


@contextmanager
def running_browser(profile: Path) -> Iterator[Browser]:
    """A browser with a fresh profile; it ends with the context."""
    program = _program()
    assert program is not None
    to_browser, writes = os.pipe()
    reads, from_browser = os.pipe()
    script = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
    argv = ["bash", "-c", script, "browser", program, *FLAGS, f"--user-data-dir={profile}"]
    process = subprocess.Popen(
        argv, pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    os.close(to_browser)
    os.close(from_browser)
    browser = Browser(reads, writes)
    try:
        yield browser
    finally:
        try:
            browser.call("Browser.close")
        except (AssertionError, OSError):
            process.kill()
        browser.close()
        process.wait(30)
