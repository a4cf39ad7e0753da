"""
What asyncio and threads do differently. Each name that begins with Async or async_ has a twin without it: the code in
`_async` uses the first, and `unasync.py` makes `_sync` of it, which uses the second.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Iterator
from typing import Any, TypeVar, Union

T = TypeVar("T")

AsyncInput = Union[AsyncIterable[Any], Iterable[Any]]
Input = Iterable[Any]
AsyncLock = asyncio.Lock
Lock = threading.Lock
async_pause = asyncio.sleep
pause = time.sleep


async def async_within(seconds: float, work: Awaitable[T]) -> T:
    try:
        return await asyncio.wait_for(work, max(0.0, seconds))
    except asyncio.TimeoutError:  # before Python 3.11 another class than the built-in one
        raise TimeoutError from None


def within(seconds: float, work: T) -> T:
    """A thread can't be stopped from outside: the work itself looks at the clock."""
    return work


async def async_items(requests: AsyncInput) -> AsyncIterator[Any]:
    if isinstance(requests, AsyncIterable):
        async for request in requests:
            yield request
    else:
        for request in requests:
            yield request


items: Callable[[Input], Iterator[Any]] = iter


async def async_call(method: Callable[..., Any], *args: Any) -> Any:
    """Calls a method of a storage; one that is not asynchronous in a thread."""
    if inspect.iscoroutinefunction(method):
        return await method(*args)
    return await asyncio.to_thread(method, *args)


def call(method: Callable[..., Any], *args: Any) -> Any:
    return method(*args)
