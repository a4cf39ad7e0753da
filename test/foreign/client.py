"""A caller in Python: `client.py LIBRARY PORT WAY FILE...`. See test/flow/foreignClients.test.ts."""

import http.client
import os
import sys
import time

LIBRARY, PORT, WAY, *PATHS = sys.argv[1:]
URL = f"http://127.0.0.1:{PORT}/predict"
HEADERS = {"X-API-Key": os.environ["ACUITY_API_KEY"], "Content-Type": "application/json"}
PAUSE_S = 0.005
PIECES = 4


class Dropped(Exception):
    """Raised in the middle of a body: the connection goes down with it."""


def pieces_of(body):
    size = len(body) // PIECES + 1
    for start in range(0, len(body), size):
        time.sleep(PAUSE_S)
        if WAY == "cut" and start >= len(body) // 2:
            raise Dropped
        yield body[start : start + size]


def prepared(body):
    """What the libraries take as a body, and its headers: a length, unless the body is chunked."""
    length = {} if WAY == "chunked" else {"Content-Length": str(len(body))}
    return (body if WAY == "plain" else pieces_of(body)), {**HEADERS, **length}


def by_http_client(bodies):
    """It always sends head and body apart."""
    connection = http.client.HTTPConnection("127.0.0.1", int(PORT))
    for body in bodies:
        content, headers = prepared(body)
        try:
            connection.request("POST", "/predict", content, headers)
        except Dropped:
            connection.close()
            continue
        answer = connection.getresponse()
        print(answer.status, answer.read().decode())


def by_httpx(bodies):
    import httpx

    with httpx.Client(trust_env=False) as client:
        for body in bodies:
            content, headers = prepared(body)
            try:
                answer = client.post(URL, content=content, headers=headers)
            except Dropped:
                continue
            print(answer.status_code, answer.text)


def main():
    bodies = []
    for path in 2 * PATHS:
        with open(path, "rb") as file:
            bodies.append(file.read())
    {"http.client": by_http_client, "httpx": by_httpx}[LIBRARY](bodies)


main()
