"""A server that gives one reply after the other, on the loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = dict[str, Any]
KNOWN = {"status", "headers", "body", "text", "silent", "broken", "cut", "trickles"}

SCORES: dict[str, Any] = {
    **{"C_SCORE": 50, "attention": 51, "memory": 49, "reasoning": 50, "stress": 40},
    **{"valence": "High", "arousal": "Low"},
}


def scored(body: Any) -> Reply:
    """Scores that tell which session they are of: `attention` is its sleep time over a thousand."""
    if isinstance(body, list):
        lines = [json.dumps(scored(one)["body"]) + "\n" for one in body]
        return {"text": "".join(lines), "headers": {"x-model-version": "7"}}
    session = body["current_session"]
    answer = {**SCORES, "attention": session.get("sleepTimeSeconds", 0) / 1000, "inference_time_ms": 0.2}
    if body.get("history") is not None:
        answer["history"] = "acu1.opaque"
    if body.get("explain"):
        parts = [{"group": "sleep_amount", "label": "the amount of sleep", "stress": -1.5}]
        why = {"against": "typical", "quality": {"confidence": "high"}, "contributors": parts}
        answer["explanation"] = {**why, "scores": {"stress": {"text": "Stress is 40."}}}
    if "recording" in session:
        answer["recording"] = {"night": "2026-03-02", "left": []}
    return {"body": answer, "headers": {"x-model-version": "7"}}


class ScriptedServer:
    """Use it with `with`; `received` holds the headers and the body of each request."""

    def __init__(self, replies: list[Reply] | Callable[[Any], Reply] = scored) -> None:
        self.received: list[tuple[dict[str, str], Any]] = []
        self.connections = 0
        left = list(replies) if isinstance(replies, list) else []
        ended = threading.Event()
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
                self._answer(replies(body) if callable(replies) else left.pop(0))

            def do_CONNECT(self) -> None:
                outer.received.append(({":path": self.path, **self.headers}, self.requestline))
                self.close_connection = True

            def _answer(self, reply: Reply) -> None:
                if not reply.keys() <= KNOWN:
                    raise ValueError(f"a reply that this server can't give: {reply.keys()}")
                if "silent" in reply:
                    ended.wait()
                is_endless, is_open = "trickles" in reply, "trickles" in reply or "cut" in reply
                self.close_connection = bool({"silent", "broken", "cut", "trickles"} & reply.keys())
                if "silent" in reply or "broken" in reply:
                    return
                text = reply.get("text", "" if is_endless else json.dumps(reply.get("body", {}))).encode()
                self.send_response(reply.get("status", 200))
                for name, value in reply.get("headers", {}).items():
                    self.send_header(name, value)
                if is_open:
                    self.send_header("transfer-encoding", "chunked")
                    text = b"%x\r\n%b\r\n" % (len(text), text) if text else b""
                else:
                    self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)
                try:
                    while is_endless and not ended.wait(0.02):
                        self.wfile.write(b"1\r\n \r\n")
                except ConnectionError:
                    pass  # the caller gave up

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing is logged."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.block_on_close = False
        self._ended = ended
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def __enter__(self) -> ScriptedServer:
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()
