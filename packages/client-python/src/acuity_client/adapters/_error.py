"""What adapters raise."""

from __future__ import annotations


class AdapterError(ValueError):
    """
    What a provider sent can't be read as its documentation says. The message names the field, never its value.

    `field` is where it is, as `sleep.data[0].bedtime_start`.
    """

    def __init__(self, field: str, what: str) -> None:
        super().__init__(f"{field}: {what}")
        self.field = field
