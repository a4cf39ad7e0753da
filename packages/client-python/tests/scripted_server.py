"""A server that gives one reply after the other, on the loopback."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = dict[str, Any]

SCORES: dict[str, Any] = {
    "C_SCORE": 50,
    "attention": 51,
    "memory": 49,
    "reasoning": 50,
    "stress": 40,
    "valence": "High",
    "arousal": "Low",
}


def scored(body: Any) -> Reply:
    """Scores that tell which session they are of: `attention` is its sleep time over a thousand."""
    attention = body["current_session"].get("sleepTimeSeconds", 0) / 1000
    history = {} if body.get("history") is None else {"history": "acu1.opaque"}
    return {
        "status": 200,
        "body": {**SCORES, "attention": attention, "inference_time_ms": 0.2, **history},
        "headers": {"x-model-version": "7"},
    }


class _QuietServer(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller that gave up is no mistake of the test."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class ScriptedServer:
    """Use it with `with`; `received` holds the headers and the body of each request."""

    def __init__(self, replies: list[Reply] | Callable[[Any], Reply] = scored) -> None:
        self.received: list[tuple[dict[str, str], Any]] = []
        self.connections = 0
        left = list(replies) if isinstance(replies, list) else []
        self._released = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # else each body waits 40 ms for the acknowledgement of its headers

            def setup(self) -> None:
                super().setup()
                outer.connections += 1

            def do_POST(self) -> None:
                sent = self.rfile.read(int(self.headers["content-length"]))
                is_list = self.headers["content-type"] == "application/x-ndjson"
                body = [json.loads(line) for line in sent.splitlines()] if is_list else json.loads(sent)
                headers = {name.lower(): value for name, value in self.headers.items()}
                outer.received.append((headers | {":path": self.path}, body))
                reply = replies(body) if callable(replies) else left.pop(0)
                if "silent" in reply:
                    outer._released.wait()
                if "silent" in reply or "broken" in reply:
                    self.close_connection = True
                    return
                text = reply["text"] if "text" in reply else json.dumps(reply.get("body", {}))
                self.send_response(reply["status"])
                for name, value in reply.get("headers", {}).items():
                    self.send_header(name, value)
                if "cut" in reply:  # the connection ends after the text, the answer does not
                    self.send_header("transfer-encoding", "chunked")
                    self.end_headers()
                    self.wfile.write(f"{len(text.encode()):x}\r\n{text}\r\n".encode())
                    self.close_connection = True
                    return
                self.send_header("content-length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing is logged."""

        self._server = _QuietServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    def __enter__(self) -> ScriptedServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._released.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
