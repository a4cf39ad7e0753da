"""Proxies of the environment: what travels in clear meets none."""

from __future__ import annotations

import os
import socketserver
import threading
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from acuity_client import AcuityClient, AcuityConnectionError, RetryPolicy

from .scripted_server import ScriptedServer
from .support import FACES, HAS_HTTPX, KEY, face

REQUEST: dict[str, Any] = {"current_session": {"HR_night": [61.8731]}}
NAMES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


class RecordingProxy:
    """Keeps the first bytes of each connection, and ends it."""

    def __init__(self) -> None:
        self.seen: list[bytes] = []
        outer = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                outer.seen.append(self.request.recv(65_536))

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self) -> None:
        """Ends it."""
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def proxy_of(*names: str) -> Iterator[RecordingProxy]:
    """A proxy that the environment tells of by `names`, and by nothing else."""
    proxy = RecordingProxy()
    kept = {name: value for name, value in os.environ.items() if name.lower() not in NAMES}
    told = {spelt: proxy.url for name in names for spelt in (name, name.upper())}
    try:
        with mock.patch.dict(os.environ, kept | told, clear=True):
            yield proxy
    finally:
        proxy.close()


class Proxies(unittest.TestCase):
    """With both transports, in threads and with asyncio."""

    def test_what_travels_in_clear_meets_no_proxy_of_the_environment(self) -> None:
        for title, maker in FACES.items():
            for host in ("127.0.0.1", "localhost"):
                with self.subTest(title, host=host), ScriptedServer() as server:
                    url = server.url.replace("127.0.0.1", host)
                    with proxy_of("http_proxy", "https_proxy", "all_proxy") as proxy:
                        with face(maker, url, {"retries": 0}) as client:
                            self._tries(client)
                    self.assertEqual((len(proxy.seen), len(server.received)), (0, 1))

    def test_nor_on_its_way_to_another_machine(self) -> None:
        policy = RetryPolicy(retries=0)
        with ScriptedServer() as server, proxy_of("http_proxy", "all_proxy") as proxy:
            # Linux takes it for this machine; the client does not.
            url = server.url.replace("127.0.0.1", "0.0.0.0")
            with AcuityClient(base_url=url, api_key=KEY, retry=policy, allow_plain_http=True) as client:
                self._tries(client)
        self.assertEqual(proxy.seen, [])

    def test_https_takes_the_tunnel_that_the_environment_names_and_shows_it_nothing(self) -> None:
        for title, maker in FACES.items():
            with self.subTest(title), proxy_of("https_proxy") as proxy:
                with face(maker, "https://scores.invalid", {"retries": 0}) as client:
                    with self.assertRaises(AcuityConnectionError):
                        client.predict(REQUEST)
                self.assertTrue(proxy.seen[0].startswith(b"CONNECT scores.invalid:443 "))
                self.assertNotIn(KEY.encode(), b"".join(proxy.seen))

    @unittest.skipUnless(HAS_HTTPX, "httpx is not installed")
    def test_a_client_of_ones_own_keeps_its_proxy(self) -> None:
        import httpx
        from acuity_client import HttpxTransport

        with proxy_of() as proxy, httpx.Client(proxy=proxy.url) as mine:
            policy = RetryPolicy(retries=0)
            transport = HttpxTransport(client=mine)
            with AcuityClient(base_url="http://127.0.0.1:9", api_key=KEY, transport=transport, retry=policy) as client:
                self._tries(client)
        self.assertEqual(len(proxy.seen), 1)

    def _tries(self, client: Any) -> None:
        try:
            client.predict(REQUEST)
        except AcuityConnectionError:
            pass


if __name__ == "__main__":
    unittest.main()
