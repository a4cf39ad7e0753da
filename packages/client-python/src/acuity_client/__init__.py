"""The client of the acuity scoring service. Use it on a server: the key must never be in an app."""

from __future__ import annotations

__version__ = "1.0.0"

from ._async.client import AsyncAcuityClient
from ._async.history import AsyncHistory
from ._checks import FieldNameWarning
from ._errors import *
from ._histories import AsyncHistoryStorage, HistoryContendedError, HistoryStorage, MemoryStorage, SqliteStorage
from ._lists import Outcome
from ._patience import RetryPolicy
from ._sync.client import AcuityClient
from ._sync.history import History
from ._types import Explanation, Finding, Measurement, Prediction, PredictionRequest, ScoreRecord, Session

# fmt: off
__all__ = [
    "AcuityClient", "AsyncAcuityClient", "RetryPolicy", "Outcome", "FieldNameWarning",
    "History", "AsyncHistory", "HistoryStorage", "AsyncHistoryStorage", "HistoryContendedError",
    "MemoryStorage", "SqliteStorage", "Explanation", "Finding", "Measurement", "Prediction", "PredictionRequest",
    "ScoreRecord", "Session", "UnexpectedAnswerError",
    "AcuityError", "AcuityTimeoutError", "AcuityConnectionError", "UnsentError", "RefusedError", "MalformedRequestError",
    "KeyMissingError", "KeyRejectedError", "WrongAddressError", "RequestTooLargeError", "UnsupportedMediaTypeError",
    "InvalidRequestError", "HistoryInvalidError", "RateLimitedError", "OverloadedError", "ServiceError",
]
