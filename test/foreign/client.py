"""A caller in Python: `client.py PORT WAY FILE...`. See test/flow/foreignClients.test.ts."""

import http.client
import os
import sys
import time

PORT, WAY, *PATHS = sys.argv[1:]
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
    """What the library takes as a body, and its headers: a length, unless the body is chunked."""
    length = {} if WAY == "chunked" else {"Content-Length": str(len(body))}
    return (body if WAY == "plain" else pieces_of(body)), {**HEADERS, **length}


def main():
    """http.client always sends head and body apart."""
    connection = http.client.HTTPConnection("127.0.0.1", int(PORT))
    for path in 2 * PATHS:
        with open(path, "rb") as file:
            content, headers = prepared(file.read())
        try:
            connection.request("POST", "/predict", content, headers)
        except Dropped:
            connection.close()
            continue
        answer = connection.getresponse()
        print(answer.status, answer.read().decode())


main()
