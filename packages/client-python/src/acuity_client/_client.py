"""The clients: one for threads, one for asyncio."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any, overload

from ._core import DEFAULT_DEADLINE_S, DEFAULT_TIMEOUT_S, Core, Hooks, Propagate
from ._lists import BYTES, CONCURRENCY, LINES, Key, List, Outcome, Part, Request, Run
from ._retry import RetryPolicy
from ._transport import (
    AsyncTransport,
    Incoming,
    Outgoing,
    Transport,
    TransportBroken,
    TransportTimeout,
    default_async_transport,
    default_transport,
)
from ._types import Prediction, PredictionRequest


class AcuityClient:
    """
    A connection pool to one service with one key. Create one and keep it; threads may share it.

    Address and key come from `ACUITY_URL` and `ACUITY_API_KEY` if they are not given. `timeout` is the longest wait for
    the answer of one attempt, in seconds. `deadline` is the longest time for a whole call, in seconds, pauses included:
    no attempt begins later, and the client does not wait if the service asks for a longer pause.
    """

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = DEFAULT_TIMEOUT_S,
        deadline: float = DEFAULT_DEADLINE_S,
        retry: RetryPolicy = RetryPolicy(),
        hooks: Hooks | None = None,
        allow_plain_http: bool = False,
        propagate: Propagate | None = None,
        transport: Transport | None = None,
    ) -> None:
        """
        Raises ValueError if the address or the key is malformed. `allow_plain_http` allows `http:` to another machine:
        biometrics and the key then travel in clear. `propagate` writes the caller's trace context before each attempt,
        as `opentelemetry.propagate.inject` does; only `traceparent` and `tracestate` are sent.
        """
        self._core = Core(
            base_url=base_url,
            api_key=api_key,
            timeout_s=timeout,
            deadline_s=deadline,
            retry=retry,
            hooks=hooks,
            allow_plain_http=allow_plain_http,
            propagate=propagate,
        )
        self._transport = transport or default_transport()
        self._sleep = _sleep

    def predict(
        self,
        request: PredictionRequest | Mapping[str, Any],
        *,
        request_id: str | None = None,
        timeout: float | None = None,
        deadline: float | None = None,
        retries: int | None = None,
    ) -> Prediction:
        """
        Scores one request. Tries again after an overload (429, 503) or a broken connection.

        Raises the AcuityError that fits the refusal. Before anything is sent it raises UnitError if fields contradict
        each other as they do in a wrong unit, and ValueError if `night` is in the future.
        """
        call = self._core.begin(request, request_id, timeout, deadline, retries)
        while True:
            while (held := self._core.held(call)) is not None:
                self._sleep(held)
            step = self._core.after(call, self._send(self._core.outgoing(call)))
            if isinstance(step, Prediction):
                return step
            self._sleep(step)

    @overload
    def predict_many(
        self,
        requests: Iterable[Request],
        *,
        list_max: int = ...,
        list_bytes_max: int = ...,
        concurrency: int = ...,
        timeout: float | None = ...,
        deadline: float | None = ...,
        retries: int | None = ...,
    ) -> Iterator[Outcome[int]]: ...

    @overload
    def predict_many(
        self,
        requests: Iterable[tuple[Key, Request]],
        *,
        list_max: int = ...,
        list_bytes_max: int = ...,
        concurrency: int = ...,
        timeout: float | None = ...,
        deadline: float | None = ...,
        retries: int | None = ...,
    ) -> Iterator[Outcome[Key]]: ...

    def predict_many(
        self,
        requests: Iterable[Any],
        *,
        list_max: int = LINES,
        list_bytes_max: int = BYTES,
        concurrency: int = CONCURRENCY,
        timeout: float | None = None,
        deadline: float | None = None,
        retries: int | None = None,
    ) -> Iterator[Outcome[Any]]:
        """
        Scores any number of requests, many in each list, and yields their outcomes in the order of the input; an error
        of one stops no other. You may pass pairs of your own key and a request, such as `dict.items()`.

        Requests are read as outcomes are taken, and no more than `concurrency` lists hold; the input must not wait for
        an outcome. A list has at most `list_max` requests (1 to 1,000) and `list_bytes_max` bytes, and fewer if the
        service or the key allows fewer. `timeout` (the longest wait for the next lines of an answer, in seconds),
        `deadline` and `retries` apply to each list. Threads send the lists; closing the iterator abandons them.

        The iterator raises errors that every further list would meet too (401, 403, 404, 415, and a 429 that outlasts
        the deadline), and errors of the input, after the outcomes of earlier requests: send again the requests that
        have no outcome by then. Raises ValueError at once if a limit is out of range.
        """
        changes = _Changes()
        run = Run(
            self._core,
            changes.tell,
            threading.Event,
            list_max=list_max,
            list_bytes_max=list_bytes_max,
            concurrency=concurrency,
            timeout=timeout,
            deadline=deadline,
            retries=retries,
        )
        return self._outcomes(requests, run, changes)

    def _outcomes(self, requests: Iterable[Any], run: Run, changes: _Changes) -> Iterator[Outcome[Any]]:
        stopped = threading.Event()
        source = iter(requests)
        try:
            while True:
                seen = changes.count
                outcome = run.next_outcome()
                if outcome is not None:
                    yield outcome
                elif run.wants():
                    self._read(source, run, stopped)
                elif run.is_over():
                    return
                else:
                    changes.wait(seen)
        finally:
            run.is_halted = True
            stopped.set()

    def _read(self, source: Iterator[Any], run: Run, stopped: threading.Event) -> None:
        try:
            full = run.add(next(source))
        except StopIteration:
            full = run.end(None)
        except Exception as error:
            full = run.end(error)
        if full is not None:
            # With the caller's context: `propagate` finds its span there.
            context = contextvars.copy_context()
            work = (self._send_list, full, run, stopped)
            threading.Thread(target=context.run, args=work, name="acuity-list", daemon=True).start()

    def _send_list(self, lst: List, run: Run, stopped: threading.Event) -> None:
        fault: BaseException | None = None
        try:
            while not stopped.is_set() and (part := run.part(lst)) is not None:
                before = lst.before
                if run.is_rated and before is not None:
                    before.done.wait()
                self._send_part(part, stopped)
        except BaseException as error:
            fault = error
        run.ended(lst, fault)

    def _send_part(self, part: Part, stopped: threading.Event) -> None:
        while not stopped.is_set():
            while (held := self._core.held(part.call)) is not None:
                self._sleep(held, stopped)
            step = part.after(self._send(part.outgoing()))
            if step is None:
                return
            self._sleep(step, stopped)

    def _send(self, request: Outgoing) -> Incoming | TransportTimeout | TransportBroken:
        try:
            return self._transport.send(request)
        except (TransportTimeout, TransportBroken) as failure:
            return failure

    def close(self) -> None:
        """Closes the connections."""
        self._transport.close()

    def __enter__(self) -> AcuityClient:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"AcuityClient({self._core.url!r})"


class AsyncAcuityClient:
    """The same for asyncio: `async with AsyncAcuityClient() as client: await client.predict(…)`."""

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = DEFAULT_TIMEOUT_S,
        deadline: float = DEFAULT_DEADLINE_S,
        retry: RetryPolicy = RetryPolicy(),
        hooks: Hooks | None = None,
        allow_plain_http: bool = False,
        propagate: Propagate | None = None,
        transport: AsyncTransport | None = None,
    ) -> None:
        """As for `AcuityClient`."""
        self._core = Core(
            base_url=base_url,
            api_key=api_key,
            timeout_s=timeout,
            deadline_s=deadline,
            retry=retry,
            hooks=hooks,
            allow_plain_http=allow_plain_http,
            propagate=propagate,
        )
        self._transport = transport or default_async_transport()
        self._sleep = asyncio.sleep

    async def predict(
        self,
        request: PredictionRequest | Mapping[str, Any],
        *,
        request_id: str | None = None,
        timeout: float | None = None,
        deadline: float | None = None,
        retries: int | None = None,
    ) -> Prediction:
        """As for `AcuityClient`. Cancelling the task cancels the request, and the pauses between attempts."""
        call = self._core.begin(request, request_id, timeout, deadline, retries)
        while True:
            while (held := self._core.held(call)) is not None:
                await self._sleep(held)
            step = self._core.after(call, await self._send(self._core.outgoing(call)))
            if isinstance(step, Prediction):
                return step
            await self._sleep(step)

    @overload
    def predict_many(
        self,
        requests: AsyncIterable[Request] | Iterable[Request],
        *,
        list_max: int = ...,
        list_bytes_max: int = ...,
        concurrency: int = ...,
        timeout: float | None = ...,
        deadline: float | None = ...,
        retries: int | None = ...,
    ) -> AsyncIterator[Outcome[int]]: ...

    @overload
    def predict_many(
        self,
        requests: AsyncIterable[tuple[Key, Request]] | Iterable[tuple[Key, Request]],
        *,
        list_max: int = ...,
        list_bytes_max: int = ...,
        concurrency: int = ...,
        timeout: float | None = ...,
        deadline: float | None = ...,
        retries: int | None = ...,
    ) -> AsyncIterator[Outcome[Key]]: ...

    def predict_many(
        self,
        requests: AsyncIterable[Any] | Iterable[Any],
        *,
        list_max: int = LINES,
        list_bytes_max: int = BYTES,
        concurrency: int = CONCURRENCY,
        timeout: float | None = None,
        deadline: float | None = None,
        retries: int | None = None,
    ) -> AsyncIterator[Outcome[Any]]:
        """
        As for `AcuityClient`; the input may be asynchronous. If you leave the loop early, close the iterator
        (`contextlib.aclosing`): this abandons the lists under way.
        """
        changes = _AsyncChanges()
        run = Run(
            self._core,
            changes.tell,
            asyncio.Event,
            list_max=list_max,
            list_bytes_max=list_bytes_max,
            concurrency=concurrency,
            timeout=timeout,
            deadline=deadline,
            retries=retries,
        )
        return self._outcomes(requests, run, changes)

    async def _outcomes(
        self, requests: AsyncIterable[Any] | Iterable[Any], run: Run, changes: _AsyncChanges
    ) -> AsyncIterator[Outcome[Any]]:
        changes.begin()
        tasks: set[asyncio.Task[None]] = set()
        tasks.add(asyncio.create_task(self._fill(requests, run, changes, tasks)))
        try:
            while True:
                lists = len(run.lists)
                outcome = run.next_outcome()
                if len(run.lists) < lists:
                    changes.wake()  # there is room for another list
                if outcome is not None:
                    yield outcome
                elif run.is_over():
                    return
                else:
                    await changes.wait()
        finally:
            run.is_halted = True
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _fill(
        self,
        requests: AsyncIterable[Any] | Iterable[Any],
        run: Run,
        changes: _AsyncChanges,
        tasks: set[asyncio.Task[None]],
    ) -> None:
        def begin(lst: List | None) -> None:
            if lst is not None:
                task = asyncio.create_task(self._send_list(lst, run))
                tasks.add(task)
                task.add_done_callback(tasks.discard)

        fault: Exception | None = None
        source = _asynchronous(requests)
        try:
            while not run.is_halted:
                if run.wants():
                    begin(run.add(await source.__anext__()))
                else:
                    await changes.wait()
        except StopAsyncIteration:
            pass
        except Exception as error:
            fault = error
        begin(run.end(fault))
        changes.tell()

    async def _send_list(self, lst: List, run: Run) -> None:
        fault: BaseException | None = None
        try:
            while (part := run.part(lst)) is not None:
                before = lst.before
                if run.is_rated and before is not None:
                    await before.done.wait()
                await self._send_part(part)
        except BaseException as error:
            fault = error
        run.ended(lst, fault)

    async def _send_part(self, part: Part) -> None:
        while True:
            while (held := self._core.held(part.call)) is not None:
                await self._sleep(held)
            step = part.after(await self._send(part.outgoing()))
            if step is None:
                return
            await self._sleep(step)

    async def _send(self, request: Outgoing) -> Incoming | TransportTimeout | TransportBroken:
        try:
            return await self._transport.send(request)
        except (TransportTimeout, TransportBroken) as failure:
            return failure

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._transport.aclose()

    async def __aenter__(self) -> AsyncAcuityClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"AsyncAcuityClient({self._core.url!r})"


def _sleep(seconds: float, stopped: threading.Event | None = None) -> None:
    """Ends early where it is stopped."""
    if stopped is None:
        time.sleep(seconds)
    else:
        stopped.wait(seconds)


class _Changes:
    """Wakes the thread that takes outcomes."""

    def __init__(self) -> None:
        self.count = 0
        self._condition = threading.Condition()

    def tell(self) -> None:
        with self._condition:
            self.count += 1
            self._condition.notify_all()

    def wait(self, seen: int) -> None:
        """Until something has changed since the count was `seen`."""
        with self._condition:
            self._condition.wait_for(lambda: self.count != seen)


class _AsyncChanges:
    """Wakes the tasks of a run; a transport may tell from a thread."""

    def begin(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()

    def tell(self) -> None:
        """From any thread."""
        self._loop.call_soon_threadsafe(self.wake)

    def wake(self) -> None:
        """From the loop's own."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def wait(self) -> None:
        await self._changed.wait()


async def _asynchronous(requests: AsyncIterable[Any] | Iterable[Any]) -> AsyncIterator[Any]:
    if isinstance(requests, AsyncIterable):
        async for request in requests:
            yield request
    else:
        for request in requests:
            yield request
