"""
What a network of its own would gain over the table of `repeatability.py`: fitted on the same recordings, scaled on people
held out, printed beside the table. It serves nothing.
"""

import json
import sys

import torch
from torch import nn

from cohort_data import PAST, Layout
from repeatability import COVERAGE, FIELDS, POINTS, Recordings, cells, parsed_options, pick, reach_table, read

# A miss costs so much a point beyond the range, where each point of width costs 1: the interval score at COVERAGE.
MISS = 2 / (1 - COVERAGE)
HIDDEN = (64, 32)
EPOCHS = 12
BATCH = 2048
LEARNING_RATE = 4e-3
HELD_OUT = 0.25
# Reach is fitted in units of so many points.
UNIT = 4.0


class Spread(nn.Module):
    """How far below and above a score the range reaches, in units of UNIT points: [B, 10], never negative."""

    def __init__(self, layout: Layout, pooling):
        super().__init__()
        self.pooling = pooling
        masks = layout.mask_of.unique()
        self.register_buffer("masks", masks)
        width = len(layout.names)
        # today, pooled past, today against it, what of it is known, its weight, past targets, scores, fields missing
        inputs = 3 * width + len(masks) + 1 + 7 + 7 + 1
        sizes = [inputs, *HIDDEN, 2 * POINTS]
        layers: list[nn.Module] = []
        for left, right in zip(sizes, sizes[1:]):
            layers += [nn.Linear(left, right), nn.ReLU()]
        self.layers = nn.Sequential(*layers[:-1])
        # By number of past sessions; fitted last, on people held out.
        self.register_buffer("scale", torch.ones(PAST + 1, POINTS))

    def forward(self, rows, past, targets, present, scores, missing):
        pooled, known = self.pooling.rows(past)
        both = (rows * pooled)[:, self.pooling.mask_of]
        target, _, weight = self.pooling.targets(targets, present)
        has_past = (present.sum(1, keepdim=True) > 0).float()
        known = known[:, self.masks]
        parts = [rows, pooled, (rows - pooled) * both, known, weight * has_past, target]
        parts += [scored(scores), missing / FIELDS]
        return nn.functional.softplus(self.layers(torch.cat(parts, 1)))

    def points(self, rows, past, targets, present, scores, missing):
        """Below and above, calibrated: [B, 5] points each."""
        raw = UNIT * self(rows, past, targets, present, scores, missing)
        scale = self.scale[present.sum(1).round().long()]
        return raw[:, :POINTS] * scale, raw[:, POINTS:] * scale


def scored(scores: torch.Tensor) -> torch.Tensor:
    """[B, 7] scores and probabilities on the scale of past targets."""
    return torch.cat([(scores[:, :POINTS] - 50) / 25, 2 * scores[:, POINTS:] - 1], 1)


INPUTS = ("rows", "past", "targets", "present", "scores", "missing")


def interval_score(below, above, moves) -> torch.Tensor:
    """[B, takes, 5]: the width, and MISS for each point beyond it."""
    under = (-moves - below[:, None]).clamp(min=0)
    over = (moves - above[:, None]).clamp(min=0)
    return below[:, None] + above[:, None] + MISS * (under + over)


def fit(spread: Spread, data: dict[str, torch.Tensor], generator: torch.Generator) -> None:
    count = len(data["rows"])
    typical = data["moves"].abs().mean((0, 1))
    steps = EPOCHS * (count // BATCH)
    optimiser = torch.optim.AdamW(spread.parameters(), LEARNING_RATE, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, LEARNING_RATE, total_steps=steps, pct_start=0.2)
    for epoch in range(EPOCHS):
        order = torch.randperm(count, generator=generator)
        total = 0.0
        for start in range(0, count - BATCH + 1, BATCH):
            batch = pick(data, order[start : start + BATCH])
            optimiser.zero_grad()
            raw = UNIT * spread(*(batch[name] for name in INPUTS))
            loss = (interval_score(raw[:, :POINTS], raw[:, POINTS:], batch["moves"]) / typical).mean()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(spread.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            total += loss.item()
        print(f"explain {epoch + 1}/{EPOCHS}  loss {total / (count // BATCH):.4f}", file=sys.stderr, flush=True)


@torch.no_grad()
def calibrate(spread: Spread, data: dict[str, torch.Tensor]) -> None:
    """Widens or narrows, for each number of sessions and each score, until COVERAGE of the moves lie within."""
    sessions = data["present"].sum(1).round().long()
    for count in range(PAST + 1):
        batch = pick(data, sessions == count)
        below, above = spread.points(*(batch[name] for name in INPUTS))
        moves = batch["moves"]
        needed = torch.where(moves < 0, -moves / below[:, None].clamp(min=1e-4), moves / above[:, None].clamp(min=1e-4))
        spread.scale[count] = torch.quantile(needed.flatten(0, 1), COVERAGE, dim=0)


@torch.no_grad()
def report(spread: Spread, fitted: dict[str, torch.Tensor], held: dict[str, torch.Tensor]) -> dict:
    """Coverage and sharpness beside a table by sessions and missing fields; on people that calibrated, so only a look."""
    below, above = spread.points(*(held[name] for name in INPUTS))
    own = interval_score(below, above, held["moves"])
    reach = reach_table(fitted)[cells(held)]
    table = interval_score(reach[:, :POINTS], reach[:, POINTS:], held["moves"])
    inside = (held["moves"] >= -below[:, None]) & (held["moves"] <= above[:, None])
    found = {
        "coverage": inside.float().mean((0, 1)).tolist(),
        "intervalScore": own.mean((0, 1)).tolist(),
        "tableScore": table.mean((0, 1)).tolist(),
        "ratio": (own.mean((0, 1)) / table.mean((0, 1))).tolist(),
        "width": (below + above).mean(0).tolist(),
    }
    for gaps in (0, 1, 2, 4, 8, 12):
        there = held["missing"][:, 0] == gaps
        found[f"coverage, {gaps} missing"] = inside[there].float().mean((0, 1)).tolist()
        found[f"width, {gaps} missing"] = (below + above)[there].mean(0).tolist()
    for count in (0, 1, 5):
        there = held["present"].sum(1).round() == count
        found[f"coverage, {count} sessions"] = inside[there].float().mean((0, 1)).tolist()
        found[f"width, {count} sessions"] = (below + above)[there].mean(0).tolist()
    widest = (below + above).amax(1)
    found["widest, quantiles 10 to 90"] = torch.quantile(widest, torch.arange(1, 10) / 10).tolist()
    return {name: [round(v, 3) for v in values] for name, values in found.items()}


def main() -> None:
    options = parsed_options(__doc__)
    generator = torch.Generator().manual_seed(options.seed)
    model, requests = read(options.recordings, options.network, generator)
    is_held = requests["person"] < HELD_OUT * (requests["person"].max() + 1)
    spread = Spread(Recordings(options.recordings).layout, model.pooling)
    fitted, held = pick(requests, ~is_held), pick(requests, is_held)
    fit(spread, fitted, generator)
    calibrate(spread, held)
    print(json.dumps(report(spread, fitted, held), indent=1))


if __name__ == "__main__":
    main()
