"""A caller in Python: `client.py LIBRARY PORT`, of CLIENTS. See test/fixtures/foreign.ts."""

import asyncio
import http.client
import os
import sys
import time

LIBRARY, PORT = sys.argv[1], int(sys.argv[2])
HEADERS = {"X-API-Key": os.environ["ACUITY_API_KEY"], "Content-Type": "application/json"}
PAUSE_S = 0.005
TIMEOUT_S = 20
PIECES = 4


class Dropped(Exception):
    """Raised in the middle of a body: the connection goes down with it."""


def pieces_of(body):
    size = len(body) // PIECES + 1
    for start in range(0, len(body), size):
        time.sleep(PAUSE_S)
        yield body[start : start + size]


def half_of(body):
    yield body[: len(body) // 2]
    time.sleep(PAUSE_S)
    raise Dropped


def report(status, body):
    print(status, body.decode(), flush=True)


class HttpClient:
    """`http.client`, which always sends head and body apart."""

    def open(self):
        return http.client.HTTPConnection("127.0.0.1", PORT, timeout=TIMEOUT_S)

    def send(self, connection, way, body):
        if way == "plain":
            connection.request("POST", "/predict", body=body, headers=HEADERS)
        elif way == "chunked":
            headers = {**HEADERS, "Transfer-Encoding": "chunked"}
            connection.request("POST", "/predict", body=pieces_of(body), headers=headers, encode_chunked=True)
        else:
            self.send_by_hand(connection, way, body)
        if way == "left":
            return connection.close()
        answer = connection.getresponse()
        report(answer.status, answer.read())

    def send_by_hand(self, connection, way, body):
        connection.putrequest("POST", "/predict")
        for name, value in {**HEADERS, "Content-Length": str(len(body))}.items():
            connection.putheader(name, value)
        connection.endheaders()
        for piece in {"pieces": pieces_of, "cut": half_of}.get(way, lambda whole: [whole])(body):
            if way == "apart":
                time.sleep(PAUSE_S)
            connection.send(piece)


def apart(body):
    time.sleep(PAUSE_S)
    yield body


class Httpx:
    """`httpx`, on httpcore and h11."""

    def open(self):
        import httpx

        return httpx.Client(trust_env=False)

    def send(self, client, way, body):
        import httpx

        content = {
            "apart": lambda: apart(body),
            "pieces": lambda: pieces_of(body),
            "cut": lambda: half_of(body),
            "chunked": lambda: pieces_of(body),
        }.get(way, lambda: body)()
        length = {} if way == "chunked" else {"Content-Length": str(len(body))}
        timeout = httpx.Timeout(TIMEOUT_S, read=0.001 if way == "left" else TIMEOUT_S)
        url = f"http://127.0.0.1:{PORT}/predict"
        try:
            answer = client.post(url, content=content, headers={**HEADERS, **length}, timeout=timeout)
        except httpx.ReadTimeout:
            if way == "left":
                return None
            raise
        return None if way == "left" else report(answer.status_code, answer.content)


class Aiohttp:
    """`aiohttp`, with an event loop of its own."""

    def open(self):
        import aiohttp

        return AiohttpSession(aiohttp, asyncio.new_event_loop())

    def send(self, session, way, body):
        session.loop.run_until_complete(session.send(way, body))


class AiohttpSession:
    def __init__(self, aiohttp, loop):
        self.aiohttp, self.loop = aiohttp, loop
        self.session = loop.run_until_complete(self.opened())

    async def opened(self):
        return self.aiohttp.ClientSession(trust_env=False)

    def close(self):
        self.loop.run_until_complete(self.session.close())
        self.loop.close()

    async def send(self, way, body):
        make = {"apart": apart, "pieces": pieces_of, "cut": half_of, "chunked": pieces_of}.get(way)
        data = body if make is None else each(make(body))
        length = {} if way == "chunked" else {"Content-Length": str(len(body))}
        timeout = self.aiohttp.ClientTimeout(total=TIMEOUT_S, sock_read=0.001 if way == "left" else None)
        url = f"http://127.0.0.1:{PORT}/predict"
        try:
            async with self.session.post(url, data=data, headers={**HEADERS, **length}, timeout=timeout) as answer:
                text = await answer.read()
                if way not in ("left", "cut"):
                    report(answer.status, text)
        except (self.aiohttp.ClientError, asyncio.TimeoutError, Dropped):
            if way not in ("left", "cut"):
                raise


async def each(pieces):
    for piece in pieces:
        yield piece


def run(client, connection, way, bodies):
    kept = client.open()
    try:
        for body in bodies:
            if connection == "fresh":
                kept.close()
                kept = client.open()
            try:
                client.send(kept, way, body)
            except Dropped:
                kept.close()
    finally:
        kept.close()


CLIENTS = {"http.client": HttpClient, "httpx": Httpx, "aiohttp": Aiohttp}


def main():
    client = CLIENTS[LIBRARY]()
    for line in sys.stdin:
        connection, way, times, *paths = line.split()
        bodies = []
        for path in paths:
            with open(path, "rb") as file:
                bodies.append(file.read())
        run(client, connection, way, bodies * int(times))
        print("end", flush=True)


main()
