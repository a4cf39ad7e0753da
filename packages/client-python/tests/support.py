"""The shared cases, and both clients with one interface, so that each case runs through each of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import acuity_client
from acuity_client import (
    AcuityClient,
    AsyncAcuityClient,
    AsyncHistory,
    AsyncUrllibTransport,
    History,
    Hooks,
    Outcome,
    Prediction,
    RetryPolicy,
    UrllibTransport,
)

KEY = f"sk_live_{'A1b2' * 9}Zz"
_CASES = Path(__file__).resolve().parents[2] / "cases"


def cases(name: str) -> list[dict[str, Any]]:
    """The shared cases of that file."""
    loaded: list[dict[str, Any]] = json.loads((_CASES / f"{name}.json").read_text("utf-8"))
    return loaded


def error_named(name: str) -> type[Exception]:
    """The error that a case names."""
    if name == "Error":
        return ValueError
    prefix = "Acuity" if name in ("ConnectionError", "TimeoutError") else ""
    found: type[Exception] = getattr(acuity_client, prefix + name)
    return found


class Face(Protocol):
    """A client, whichever it is."""

    pauses: list[float]

    def predict(self, request: Any, **options: Any) -> Prediction:
        """One request."""
        ...

    def predict_many(self, requests: Any, **options: Any) -> Iterator[Outcome[Any]]:
        """The outcomes."""
        ...

    def history(self, storage: Any) -> Any:
        """A history over it: score, forget."""
        ...

    def close(self) -> None:
        """Closes it."""
        ...


def _options(options: dict[str, Any]) -> dict[str, Any]:
    policy = RetryPolicy()
    return {
        "api_key": KEY,
        "timeout": options.get("timeoutMs", 10_000) / 1000,
        "deadline": options.get("deadlineMs", 60_000) / 1000,
        "retry": RetryPolicy(
            options.get("retries", policy.retries),
            options.get("firstPauseMs", policy.first_pause_s * 1000) / 1000,
            options.get("pauseMaxMs", policy.pause_max_s * 1000) / 1000,
        ),
    }


class SyncFace:
    """`AcuityClient`."""

    def __init__(self, url: str, options: dict[str, Any], hooks: Hooks | None, transport: Any) -> None:
        self.pauses: list[float] = []
        self.client = AcuityClient(base_url=url, hooks=hooks, transport=transport, **_options(options))
        self.client._core.random = lambda: 0.5
        self.client._sleep = self._pause

    def _pause(self, seconds: Any, stopped: Any = None) -> None:
        self.pauses.append(seconds)

    def predict(self, request: Any, **options: Any) -> Prediction:
        return self.client.predict(request, **options)

    def predict_many(self, requests: Any, **options: Any) -> Iterator[Outcome[Any]]:
        return self.client.predict_many(requests, **options)

    def history(self, storage: Any) -> Any:
        return History(self.client, storage)

    def close(self) -> None:
        self.client.close()


class AsyncFace:
    """`AsyncAcuityClient`, with a loop of its own."""

    def __init__(self, url: str, options: dict[str, Any], hooks: Hooks | None, transport: Any) -> None:
        self.pauses: list[float] = []
        self._loop = asyncio.new_event_loop()
        self.client = AsyncAcuityClient(base_url=url, hooks=hooks, transport=transport, **_options(options))
        self.client._core.random = lambda: 0.5
        self.client._sleep = self._pause  # type: ignore[assignment]

    async def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)

    def predict(self, request: Any, **options: Any) -> Prediction:
        return self._loop.run_until_complete(self.client.predict(request, **options))

    def predict_many(self, requests: Any, **options: Any) -> Iterator[Outcome[Any]]:
        outcomes: Any = self.client.predict_many(requests, **options)
        try:
            while True:
                try:
                    yield self._loop.run_until_complete(outcomes.__anext__())
                except StopAsyncIteration:
                    return
        finally:
            self._loop.run_until_complete(outcomes.aclose())

    def history(self, storage: Any) -> Any:
        return _Awaited(AsyncHistory(self.client, storage), self._loop)

    def close(self) -> None:
        self._loop.run_until_complete(self.client.aclose())
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()


class _Awaited:
    """Methods of an asynchronous object, waited for."""

    def __init__(self, target: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._target = target
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._target, name)
        return lambda *args, **options: self._loop.run_until_complete(method(*args, **options))


Maker = Callable[[str, dict[str, Any], "Hooks | None"], Face]

FACES: dict[str, Maker] = {
    "threads, standard library": lambda url, options, hooks: SyncFace(url, options, hooks, UrllibTransport()),
    "asyncio, standard library": lambda url, options, hooks: AsyncFace(url, options, hooks, AsyncUrllibTransport()),
}
try:
    from acuity_client._httpx import AsyncHttpxTransport, HttpxTransport
except ModuleNotFoundError:
    HAS_HTTPX = False
else:
    HAS_HTTPX = True
    FACES["threads, httpx"] = lambda url, options, hooks: SyncFace(url, options, hooks, HttpxTransport())
    FACES["asyncio, httpx"] = lambda url, options, hooks: AsyncFace(url, options, hooks, AsyncHttpxTransport())


@contextmanager
def face(maker: Maker, url: str, options: dict[str, Any] | None = None, hooks: Hooks | None = None) -> Iterator[Face]:
    """A client for the length of a block."""
    made = maker(url, options or {}, hooks)
    try:
        yield made
    finally:
        made.close()
