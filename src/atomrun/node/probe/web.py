"""HTTP to the one server on this machine."""

# ruff: noqa: UP006, UP035, UP045 - must run on Python 3.6
import http.client
import json
import socket
from typing import Any, Dict, Iterator, NamedTuple, Optional

__all__ = ["Reply", "Server", "Unreachable", "text_of"]

LIMIT = 32 << 20


class Unreachable(Exception):
    """No HTTP answer: nothing listens, the connection broke, or the time is up."""


class Reply(NamedTuple):
    status: int
    body: bytes

    def json(self) -> Any:
        """The body as JSON; None if it is none."""
        try:
            return json.loads(self.body.decode("utf-8", "replace"))
        except ValueError:
            return None

    def excerpt(self) -> str:
        """The beginning of the body, on one line, for messages."""
        return " ".join(self.body[:200].decode("utf-8", "replace").split())


class Server(NamedTuple):
    """Where the server answers, and under which name it serves its model."""

    host: str
    port: int
    model: str

    def get(self, path: str, timeout: float) -> Reply:
        return self._call("GET", path, None, timeout)

    def post(self, path: str, body: Dict[str, Any], timeout: float) -> Reply:
        return self._call("POST", path, dict({"model": self.model}, **body), timeout)

    def stream(self, path: str, body: Dict[str, Any], timeout: float) -> Iterator[str]:
        """The payloads of a server-sent event stream. Raises `Unreachable` for any status but 200."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        try:
            reply = self._send(connection, "POST", path, dict({"model": self.model, "stream": True}, **body))
            if reply.status != 200:
                refusal = Reply(reply.status, reply.read(LIMIT))
                raise Unreachable(f"HTTP {reply.status}: {refusal.excerpt()}")
            for line in reply:
                if line.startswith(b"data:"):
                    yield line[5:].strip().decode("utf-8", "replace")
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(_reason(error)) from None
        finally:
            connection.close()

    def _call(self, method: str, path: str, body: Optional[Dict[str, Any]], timeout: float) -> Reply:
        connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        try:
            reply = self._send(connection, method, path, body)
            return Reply(reply.status, reply.read(LIMIT))
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(_reason(error)) from None
        finally:
            connection.close()

    def _send(
        self, connection: http.client.HTTPConnection, method: str, path: str, body: Optional[Dict[str, Any]]
    ) -> http.client.HTTPResponse:
        data = None if body is None else json.dumps(body).encode("utf-8")
        headers = {} if data is None else {"Content-Type": "application/json"}
        connection.request(method, path, body=data, headers=headers)
        return connection.getresponse()


def text_of(reply: Reply) -> Optional[str]:
    """The text of a completion or chat completion; None if the reply has none. A reasoning model may put all of
    it into `reasoning_content`."""
    document = reply.json() if reply.status == 200 else None
    choices = document.get("choices") if isinstance(document, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return None
    choice = choices[0]
    message = choice.get("message")
    if isinstance(message, dict):
        text = message.get("content") or message.get("reasoning_content")
    else:
        text = choice.get("text")
    return text if isinstance(text, str) else None


def _reason(error: Exception) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    if isinstance(error, socket.timeout):
        return "no answer in time"
    return str(error) or type(error).__name__
