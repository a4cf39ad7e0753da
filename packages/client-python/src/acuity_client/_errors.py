"""One error for each way in which a request can fail. No message holds a key or a biometric value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ._types import Finding


class AcuityError(Exception):
    """The base of all errors that leave a request without scores."""

    status: int | None = None
    """Of the answer; None without one."""

    def __init__(self, message: str, request_id: str) -> None:
        super().__init__(message)
        self.request_id = request_id
        """The id under which the service's log knows the request."""


class UnsentError(AcuityError):
    """In an outcome of `predict_many`: the request could not be sent; `__cause__` is what `predict` would raise."""


class AcuityTimeoutError(AcuityError):
    """No answer within the time limit. It is unknown whether the request was scored; scoring changes nothing."""


class AcuityConnectionError(AcuityError):
    """The connection could not be made, or broke before the answer."""

    may_pass = True
    """False where the answer was too long: it would be as long again."""


@dataclass(frozen=True)
class Refusal:
    """The content of a refusal."""

    status: int
    request_id: str
    detail: str = ""
    """The answer's `detail`; empty where it is no text."""
    findings: list[Finding] = field(default_factory=list)
    retry_after_s: float | None = None
    """Seconds until another attempt may succeed."""
    limit: str | None = None
    """The header `RateLimit-Policy`: how much the limit that was reached allows, such as "20 in 2 s"."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


class RefusedError(AcuityError):
    """The service answered, but not with scores."""

    remedy = "the service refused the request"

    def __init__(self, refusal: Refusal) -> None:
        said = f"{refusal.status} {refusal.detail}".rstrip()
        super().__init__(f"{said}: {self._remedy(refusal)}", refusal.request_id)
        self.refusal = refusal
        self.status: int = refusal.status
        self.detail = refusal.detail
        self.findings = refusal.findings
        """Of a 422: where and why."""
        self.retry_after_s = refusal.retry_after_s
        self.headers = refusal.headers
        """Of the answer, by names in lower case."""
        self.rate_limit = refusal.headers.get("ratelimit")
        """Of a 429: the limit that was reached, as the header `RateLimit` has it."""

    def _remedy(self, refusal: Refusal) -> str:
        return self.remedy


class MalformedRequestError(RefusedError):  # 400
    remedy = "the body was not JSON when it arrived; look at what stands in between"


class KeyMissingError(RefusedError):  # 401
    remedy = "the key did not arrive; does a proxy take the header X-API-Key out?"


class KeyRejectedError(RefusedError):  # 403
    remedy = "the key is unknown, expired or revoked; ask the operator to renew or replace it"


class WrongAddressError(RefusedError):  # 404, 405
    remedy = "no scoring service at this address; give the base address, without /predict"


class RequestTooLargeError(RefusedError):  # 413
    remedy = "send fewer samples"


class UnsupportedMediaTypeError(RefusedError):  # 415
    remedy = "the headers changed on the way, or the body was compressed; or the service is older than this client"


class InvalidRequestError(RefusedError):
    """422: the request is JSON that the service does not accept; `findings` say where and why."""

    def _remedy(self, refusal: Refusal) -> str:
        return "; ".join(f"{'.'.join(map(str, f['loc']))}: {f['msg']}" for f in refusal.findings)


class HistoryInvalidError(InvalidRequestError):
    """422 for a history that was changed since the service returned it, or is of another version."""

    def _remedy(self, refusal: Refusal) -> str:
        found = super()._remedy(refusal)
        return f"{found}; restore what was stored of the person, or forget them: their next night begins a history"


class RateLimitedError(RefusedError):
    """429: the key's rate or its daily quota is used up."""

    def _remedy(self, refusal: Refusal) -> str:
        seconds = "some" if refusal.retry_after_s is None else f"{refusal.retry_after_s:g}"
        allowed = "" if refusal.limit is None else f"the key has {refusal.limit}; "
        return f"{allowed}try again in {seconds} s, or ask for a higher limit"


class OverloadedError(RefusedError):
    """503, or 429 if the operator has chosen that status: the service is overloaded or stopping."""

    remedy = "the service is overloaded or stopping; try again later"


class ServiceError(RefusedError):
    """500: an error inside the service."""

    def _remedy(self, refusal: Refusal) -> str:
        return f"tell the operator the request id {refusal.request_id}"


class UnexpectedAnswerError(RefusedError):  # of no service of ours
    remedy = "not an answer of this service; something else stands in front of it"


_BY_STATUS: dict[int, type[RefusedError]] = {
    400: MalformedRequestError,
    401: KeyMissingError,
    403: KeyRejectedError,
    404: WrongAddressError,
    405: WrongAddressError,
    413: RequestTooLargeError,
    415: UnsupportedMediaTypeError,
    422: InvalidRequestError,
    429: RateLimitedError,
    500: ServiceError,
    503: OverloadedError,
}
_OVERLOADED = "Service overloaded"
"""What an overload says, under either status."""


def error_for(refusal: Refusal) -> RefusedError:
    """The error that stands for a refusal."""
    if any(finding.get("type") == "history_invalid" for finding in refusal.findings):
        return HistoryInvalidError(refusal)
    if refusal.status == 429 and refusal.detail == _OVERLOADED:
        return OverloadedError(refusal)
    return _BY_STATUS.get(refusal.status, UnexpectedAnswerError)(refusal)


def may_pass(error: AcuityError) -> bool:
    """Whether another attempt may succeed. 501 and 505 are answers about the server itself."""
    if error.status is not None:
        return error.status in (408, 429) or (error.status >= 500 and error.status not in (501, 505))
    return error.may_pass if isinstance(error, AcuityConnectionError) else isinstance(error, AcuityTimeoutError)
