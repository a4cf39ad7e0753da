"""The client of the acuity scoring service. Use it on a server: the key must never be in an app."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._client import AcuityClient, AsyncAcuityClient
from ._contradictions import UnitWarning
from ._core import AttemptReport, Hooks, RetryReport
from ._describe import ChartContributor, ScoreChart, ScoreDescription, describe_score
from ._errors import (
    AcuityConnectionError,
    AcuityError,
    AcuityTimeoutError,
    HistoryInvalidError,
    InvalidRequestError,
    KeyMissingError,
    KeyRejectedError,
    MalformedRequestError,
    OverloadedError,
    RateLimitedError,
    RefusedError,
    RequestTooLargeError,
    ServiceError,
    UnexpectedAnswerError,
    UnsupportedMediaTypeError,
    WrongAddressError,
)
from ._former_history import FormerEntry
from ._history import (
    AsyncHistory,
    AsyncHistoryStorage,
    History,
    HistoryContendedError,
    HistoryStorage,
    MemoryStorage,
    StoredHistory,
)
from ._lists import Outcome
from ._moment import Moment
from ._norms import NORMS, Norm, NormAges, NormName, NormSex, percentile_of, pss10_sum, vigilance_speed
from ._retry import RetryPolicy
from ._session import Sample, Samples, SessionBuilder
from ._sleep import Stage, StageInterval
from ._slips import FieldNameWarning
from ._sqlite import SqliteStorage
from ._transport import (
    AsyncTransport,
    Incoming,
    Outgoing,
    Transport,
    TransportBroken,
    TransportTimeout,
)
from ._types import (
    Explanation,
    Finding,
    IgnoredMeasurement,
    MeasuredLabel,
    MeasuredScore,
    Measurement,
    Prediction,
    PredictionRequest,
    ScoreRecord,
    Session,
)
from ._units import UnitError
from ._urllib import AsyncUrllibTransport, UrllibTransport

__version__ = "1.0.0"

if TYPE_CHECKING:
    from ._httpx import AsyncHttpxTransport as AsyncHttpxTransport
    from ._httpx import HttpxTransport as HttpxTransport

__all__ = [
    "AcuityClient",
    "AcuityConnectionError",
    "AcuityError",
    "AcuityTimeoutError",
    "AsyncAcuityClient",
    "AsyncHistory",
    "AsyncHistoryStorage",
    "AsyncTransport",
    "AsyncUrllibTransport",
    "AttemptReport",
    "ChartContributor",
    "Explanation",
    "FieldNameWarning",
    "Finding",
    "FormerEntry",
    "History",
    "HistoryContendedError",
    "HistoryInvalidError",
    "HistoryStorage",
    "Hooks",
    "IgnoredMeasurement",
    "Incoming",
    "InvalidRequestError",
    "KeyMissingError",
    "KeyRejectedError",
    "MalformedRequestError",
    "MeasuredLabel",
    "MeasuredScore",
    "Measurement",
    "MemoryStorage",
    "Moment",
    "NORMS",
    "Norm",
    "NormAges",
    "NormName",
    "NormSex",
    "Outcome",
    "Outgoing",
    "OverloadedError",
    "Prediction",
    "PredictionRequest",
    "RateLimitedError",
    "RefusedError",
    "RequestTooLargeError",
    "RetryPolicy",
    "RetryReport",
    "Sample",
    "Samples",
    "ScoreChart",
    "ScoreDescription",
    "ScoreRecord",
    "ServiceError",
    "Session",
    "SessionBuilder",
    "SqliteStorage",
    "Stage",
    "StageInterval",
    "StoredHistory",
    "Transport",
    "TransportBroken",
    "TransportTimeout",
    "UnexpectedAnswerError",
    "UnitError",
    "UnitWarning",
    "UnsupportedMediaTypeError",
    "UrllibTransport",
    "WrongAddressError",
    "describe_score",
    "percentile_of",
    "pss10_sum",
    "vigilance_speed",
]


def __getattr__(name: str) -> object:
    """The transports of httpx, which is not installed everywhere."""
    if name not in ("HttpxTransport", "AsyncHttpxTransport"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _httpx

    found: object = getattr(_httpx, name)
    return found
