"""Both clients with one interface, so that each case runs through each of them."""

from __future__ import annotations

import asyncio
import inspect
import json
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PACKAGE = Path(__file__).resolve().parents[1]
runpy.run_path(str(PACKAGE / "unasync.py"), run_name="__main__")

import acuity_client
from acuity_client import AcuityClient, AsyncAcuityClient, AsyncHistory, History, RetryPolicy

KEY = f"sk_live_{'A1b2' * 9}Zz"
REPOSITORY = PACKAGE.parents[1]
OPTIONS = {"timeoutMs", "deadlineMs", "retries", "firstPauseMs", "pauseMaxMs"}


def cases(name: str) -> pytest.MarkDecorator:
    """A parametrization by the shared cases of that file."""
    loaded = json.loads((REPOSITORY / f"packages/cases/{name}.json").read_text("utf-8"))
    return pytest.mark.parametrize("case", loaded, ids=[case["name"] for case in loaded])


def error_named(name: str) -> type[Exception]:
    """The error that a case names."""
    if name == "Error":
        return ValueError
    found: type[Exception] = getattr(acuity_client, name, None) or getattr(acuity_client, f"Acuity{name}")
    return found


class Face:
    """A client for threads or for asyncio, that waits for nothing and draws 0.5; its answers are waited for."""

    def __init__(self, kind: str) -> None:
        self.is_async = kind == "asyncio"
        self.pauses: list[float] = []
        self._loop = asyncio.new_event_loop()
        self._made: list[Any] = []

    def __call__(self, url: str, options: dict[str, Any] | None = None, **others: Any) -> Face:
        """The client for a service; `options` as the cases have them."""
        given, policy = options or {}, RetryPolicy()
        assert given.keys() <= OPTIONS, given
        made: Any = (AsyncAcuityClient if self.is_async else AcuityClient)(
            base_url=url,
            timeout=given.get("timeoutMs", 10_000) / 1000,
            deadline=given.get("deadlineMs", 60_000) / 1000,
            retry=RetryPolicy(
                given.get("retries", policy.retries),
                given.get("firstPauseMs", policy.first_pause_s * 1000) / 1000,
                given.get("pauseMaxMs", policy.pause_max_s * 1000) / 1000,
            ),
            **{"api_key": KEY, **others},
        )
        made._random = lambda: 0.5
        made._pause = self._pause_async if self.is_async else self._pause
        self._made.append(made)
        self.client = made
        return self

    def _pause(self, seconds: float) -> None:
        self.pauses.append(round(seconds, 9))

    async def _pause_async(self, seconds: float) -> None:
        self._pause(seconds)

    def wait(self, answer: Any) -> Any:
        """The answer of either client."""
        return self._loop.run_until_complete(answer) if inspect.isawaitable(answer) else answer

    def predict(self, request: Any, **options: Any) -> Any:
        """The scores."""
        return self.wait(self.client.predict(request, **options))

    def predict_many(self, requests: Any, **options: Any) -> Iterator[Any]:
        """The outcomes."""
        outcomes = self.client.predict_many(requests, **options)
        try:
            while (outcome := self.wait(anext(outcomes, None) if self.is_async else next(outcomes, None))) is not None:
                yield outcome
        finally:
            self.wait(outcomes.aclose() if self.is_async else outcomes.close())

    def history(self, storage: Any) -> Any:
        """A history over it: score, forget."""
        return (AsyncHistory if self.is_async else History)(self.client, storage)

    def close(self) -> None:
        """Closes it."""
        for made in self._made:
            self.wait(made.aclose() if self.is_async else made.close())
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()


@pytest.fixture(params=["threads", "asyncio"])
def face(request: pytest.FixtureRequest) -> Iterator[Face]:
    """Each client in turn."""
    made = Face(request.param)
    yield made
    made.close()
