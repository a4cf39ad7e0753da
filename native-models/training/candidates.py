"""Fits a network with each set of candidate features and says what it explains and what other devices do to it."""

import argparse
import json
from pathlib import Path

import torch

from cohort_data import PAST, SCORES, Cohort
from network import Network, scores_of
from train import Windows, fit

VARIANTS = {
    "level only": (),
    "level and spread": ("spread",),
    "level and course": ("course",),
    "level, spread and course": ("spread", "course"),
}
KINDS = ("spread", "course")
NAMES = ("attention", "memory", "reasoning", "stress")
ROUNDS, EPOCHS = 2, 5


def load(folder: Path, kept: tuple[str, ...]) -> Cohort:
    """The cohort without the candidates that a variant does not have: missing everywhere."""
    cohort = Cohort(folder)
    gone = [kind for kind in KINDS if kind not in kept]
    drop = torch.tensor([any(group.endswith("_" + kind) for kind in gone) for group in cohort.layout.groups])
    cohort.rows[..., drop] = 0
    return cohort


@torch.no_grad()
def last_day(model, today: Cohort, past: Cohort, rolled: torch.Tensor):
    """Scores of the last day of `today`, without history and with the last sessions of `past`."""
    day = today.days - 1
    days = [day - 1 - index for index in range(PAST)]
    rows = today.rows[:, day]
    present = torch.ones(today.people, PAST)
    together = model.with_history(rows, past.rows[:, days], rolled[:, days], present)
    return scores_of(model.without_history(rows))[:, 1:5], scores_of(together)[:, 1:5]


def rolled_out(model, cohort: Cohort) -> torch.Tensor:
    windows = Windows(cohort, torch.Generator())
    windows.roll_out(model)
    return windows.rolled


def explained(predicted: torch.Tensor, expected: torch.Tensor) -> list[float]:
    error = (predicted - expected).square().mean(0)
    return ((expected.var(0, unbiased=False) - error) / (10_000 / 12)).tolist()


def judge(model, folder: Path, kept: tuple[str, ...]) -> str:
    judged = load(folder / "judged", kept)
    alone, together = last_day(model, judged, judged, rolled_out(model, judged))
    expected = 100 * judged.expected(judged.causes[:, -1])[:, :SCORES]
    shares = [" ".join(f"{share:.4f}" for share in explained(scores, expected)) for scores in (alone, together)]
    return f"explained without history {shares[0]}, with five sessions {shares[1]}"


def check_devices(model, folder: Path, kept: tuple[str, ...], averaged: list[bool]) -> str:
    plain = load(folder / "plain", kept)
    plain_rolled = rolled_out(model, plain)
    before = last_day(model, plain, plain, plain_rolled)
    found = {False: (0.0, 0.0), True: (0.0, 0.0)}
    for index, is_averaged in enumerate(averaged):
        other = load(folder / f"device-{index}", kept)
        rolled = rolled_out(model, other)
        own = last_day(model, other, other, rolled)
        pairs = [
            (before[0], own[0]),
            (before[1], own[1]),
            (before[1], last_day(model, other, plain, plain_rolled)[1]),
            (before[1], last_day(model, plain, other, rolled)[1]),
        ]
        for one, two in pairs:
            shift, distance = (two - one).mean(0).abs().max().item(), (two - one).abs().mean(0).max().item()
            most = found[is_averaged]
            found[is_averaged] = (max(most[0], shift), max(most[1], distance))
    sampled, few = found[False], found[True]
    return (
        f"other devices: mean shift to {sampled[0]:.2f}, mean distance to {sampled[1]:.2f}; "
        f"one or three averages: mean shift to {few[0]:.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--averaged", type=json.loads, required=True)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    print("shares of attention, memory, reasoning, stress; points of the score that moves most")
    for name, kept in VARIANTS.items():
        torch.manual_seed(1)
        cohort = load(options.folder / "trained", kept)
        model = Network(cohort.layout)
        fit(model, Windows(cohort, torch.Generator().manual_seed(1)), name[:12], ROUNDS, EPOCHS)
        print(f"{name}: {judge(model, options.folder, kept)}; "
              f"{check_devices(model, options.folder, kept, options.averaged)}", flush=True)


if __name__ == "__main__":
    main()
