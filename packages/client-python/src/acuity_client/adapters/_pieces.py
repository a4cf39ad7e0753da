"""Records of one stage, as Apple Health has them: many make a sleep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .._sleep import Span
from ._durations import Stretch
from ._flatten import flattened

_PAUSE_MAX_MS = 3_600_000
"""Sleep that goes on after a longer pause is a part of its own."""


class Piece(NamedTuple):
    stretch: Stretch
    path: str
    east_ms: int | None
    source: str


def by_source(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Groups by device, because the records of devices overlap."""
    groups: dict[str, list[Piece]] = {}
    for piece in pieces:
        groups.setdefault(piece.source, []).append(piece)
    return list(groups.values())


def groups_of(pieces: Sequence[Piece]) -> list[list[Stretch]]:
    """The sleeps of the pieces of one source: the stretches of each, in order."""
    groups: list[list[Stretch]] = []
    for stretch in flattened([piece.stretch for piece in pieces]):
        if groups and stretch.from_ms - groups[-1][-1].to_ms <= _PAUSE_MAX_MS:
            groups[-1].append(stretch)
        else:
            groups.append([stretch])
    return groups


def pieces_within(pieces: Sequence[Piece], span: Span) -> tuple[Piece, Piece]:
    """Of those that a sleep was made of, which began first, and which ended last."""
    own = [one for one in pieces if one.stretch.from_ms < span.to_ms and one.stretch.to_ms > span.from_ms]
    return min(own, key=lambda one: one.stretch.from_ms), max(own, key=lambda one: one.stretch.to_ms)
