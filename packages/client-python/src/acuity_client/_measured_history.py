"""Removes the measurements from a history."""

from __future__ import annotations

import base64
import binascii
import zlib

_VERSION = "acu1."
"""How a history begins that this client knows to take apart; what follows is base64url without padding."""
_CRC_BYTES = 4
_END_BYTES = 3
"""After the measurements: their length u16, and the mask u8, which is 0 where there are none."""


def without_measurements(history: str) -> str:
    """
    `nights │ measurements │ their length u16 │ mask u8, not 0 │ CRC-32` becomes `nights │ 0 u8 │ CRC-32`. Raises
    ValueError where it is damaged, or of a version that this client does not know.
    """
    body = _body(history)
    if body is None:
        raise ValueError(_DAMAGED)
    if body[-1] == 0:
        return history
    kept = len(body) - _END_BYTES - int.from_bytes(body[-_END_BYTES:-1], "little")
    if kept < 1:
        raise ValueError(_DAMAGED)
    shorter = body[:kept] + b"\0"
    whole = shorter + zlib.crc32(shorter).to_bytes(_CRC_BYTES, "little")
    return _VERSION + base64.urlsafe_b64encode(whole).rstrip(b"=").decode()


def _body(history: str) -> bytes | None:
    """Its bytes but for the checksum; None where that is not theirs."""
    encoded = history.removeprefix(_VERSION)
    try:
        data = base64.b64decode(encoded + "=" * (-len(encoded) % 4), altchars=b"-_", validate=True)
    except (ValueError, binascii.Error):
        return None
    body, checksum = data[:-_CRC_BYTES], data[-_CRC_BYTES:]
    is_whole = encoded != history and body and zlib.crc32(body) == int.from_bytes(checksum, "little")
    return body if is_whole else None


_DAMAGED = (
    "the stored history is damaged, or newer than this client: restore what was stored of the person, or forget them"
)
