"""Overlapping intervals of stages."""

from __future__ import annotations

from collections.abc import Sequence

from ._durations import AnyStage, Stretch

_RANK: tuple[AnyStage, ...] = ("asleep", "light", "awake", "rem", "deep")
"""The more telling one counts: an app may lay one stage under the whole night."""


def flattened(stretches: Sequence[Stretch]) -> list[Stretch]:
    """Intervals in order, without overlap, and without those of unknown stage."""
    edges: list[tuple[int, int, int]] = []
    for stage, from_ms, to_ms in stretches:
        if stage is not None:
            edges += [(from_ms, _RANK.index(stage), 1), (to_ms, _RANK.index(stage), -1)]
    open_now = [0] * len(_RANK)
    flat: list[Stretch] = []
    from_ms = 0
    for ms, rank, step in sorted(edges, key=lambda edge: edge[0]):
        highest = next((rank for rank in reversed(range(len(_RANK))) if open_now[rank] > 0), None)
        if highest is not None and ms > from_ms:
            stage = _RANK[highest]
            if flat and flat[-1].stage == stage and flat[-1].to_ms == from_ms:
                flat[-1] = flat[-1]._replace(to_ms=ms)
            else:
                flat.append(Stretch(stage, from_ms, ms))
        open_now[rank] += step
        from_ms = ms
    return flat
