"""The client for asyncio, of which `unasync.py` makes the one for threads."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from .._base import BaseClient
from .._concurrency import AsyncInput, async_items, async_pause
from .._errors import AcuityError
from .._lists import BYTES, LINES, Line, Outcome, Run, outcomes_of
from .._types import Prediction, PredictionRequest

if TYPE_CHECKING:
    import httpx


class AsyncAcuityClient(BaseClient["httpx.AsyncClient"]):
    """
    A connection pool to one service with one key, for asyncio. Create one and keep it.

    Address and key come from `ACUITY_URL` and `ACUITY_API_KEY` if they are not given. `timeout` is the longest wait for
    the answer of one attempt, in seconds. `deadline` is the longest time for a whole call, in seconds, pauses included;
    the client does not wait if the service asks for a longer pause. `api_key` may be a function, called before each
    attempt: a rotated key needs no other client. `headers` are your own, sent with each request. `allow_plain_http` allows `http:` to another
    machine: biometrics and the key then travel in clear. `http_client` is your own, with your proxies, certificates and
    event hooks; you close it. Raises ValueError if the address or the key is malformed.
    """

    def _open(self, http_client: httpx.AsyncClient | None) -> None:
        # Here, since engines (acuity_client.ray, acuity_client.spark) may have no httpx.
        from .transport import AsyncTransport

        self._transport = AsyncTransport(http_client)
        self._pause = async_pause

    async def predict(
        self,
        request: PredictionRequest,
        *,
        request_id: str | None = None,
        timeout: float | None = None,
        deadline: float | None = None,
        retries: int | None = None,
    ) -> Prediction:
        """
        Scores one request. Tries again after 408, 429, every 5xx but 501 and 505, a time-out or a broken connection.

        Raises the AcuityError that fits the refusal; before anything is sent, ValueError if `night` is in the future.
        """
        call = self._begin(request, request_id, (timeout, deadline, retries))
        while True:
            step = self._after(call, await self._transport.send(self._attempt(call)))
            if isinstance(step, Prediction):
                return step
            await self._pause(step)

    def predict_many(
        self,
        requests: AsyncInput,
        *,
        list_max: int = LINES,
        list_bytes_max: int = BYTES,
        timeout: float | None = None,
        deadline: float | None = None,
        retries: int | None = None,
    ) -> AsyncIterator[Outcome]:
        """
        Scores any number of requests, or pairs of your own key and a request, many in each list. Yields their outcomes
        in the order of the input, list by list; an error of one stops no other.

        Requests are read as outcomes are taken, no more than one list holds: at most `list_max` (1 to 1,000) and
        `list_bytes_max` bytes. `timeout` (the longest wait for the next lines of an answer, in seconds), `deadline` and
        `retries` apply to each list.

        Raises errors that every further list would meet too (401, 403, 404, 415, a 429 that outlasts the deadline), and
        errors of the input, after the outcomes of earlier requests; ValueError at once if a limit is out of range.
        """
        run = Run(self, list_max, list_bytes_max, (timeout, deadline, retries))
        return self._outcomes(requests, run)

    async def _outcomes(self, requests: AsyncInput, run: Run) -> AsyncIterator[Outcome]:
        source = async_items(requests)
        while lines := await self._read(source, run):
            fault = await self._send_list(lines, run)
            for outcome in outcomes_of(lines):
                yield outcome
            if fault is not None:
                raise fault
        if run.input_fault is not None:
            raise run.input_fault

    async def _read(self, source: AsyncIterator[Any], run: Run) -> list[Line]:
        """The next list, empty where there is none."""
        try:
            while not run.is_full():
                run.add(await source.__anext__())
        except StopAsyncIteration:
            run.is_ended = True
        except Exception as error:
            run.is_ended, run.input_fault = True, error
        return run.next_list()

    async def _send_list(self, lines: list[Line], run: Run) -> AcuityError | None:
        """Returns what ends the run after the outcomes of this list."""
        try:
            while (part := run.part(lines)) is not None:
                while (step := part.after(await self._transport.send(self._attempt(part.prepared())))) is not None:
                    await self._pause(step)
        except AcuityError as error:
            return error
        return None

    async def aclose(self) -> None:
        await self._transport.aclose()

    async def __aenter__(self) -> AsyncAcuityClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
