"""
How far another recording of the same days would have moved each score: fitted on the same people as their own devices
and other ordinary ones recorded them, calibrated on people held out, and exported beside the network itself.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn

from cohort_data import PAST, Layout
from explain_graph import export_explain
from network import Network, scores_of, targets_of

POINTS = 5  # C_SCORE and the four scores
COVERAGE = 0.8
# A miss costs so much a point beyond the range, where each point of width costs 1: the interval score at COVERAGE.
MISS = 2 / (1 - COVERAGE)
HIDDEN = (48, 32)
# Fields of a session.
FIELDS = 16
EPOCHS = 14
BATCH = 2048
LEARNING_RATE = 4e-3
WINDOWS_PER_PERSON = 5
HELD_OUT = 0.3
# Deltas are fitted in units of so many points.
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


class Recordings:
    """What `cohort/writeRecordings.ts` wrote."""

    def __init__(self, folder: Path):
        self.meta = json.loads((folder / "recordings.json").read_text())
        people, days = self.meta["people"], self.meta["days"]
        self.people, self.days = people, days
        self.layout = Layout.of(self.meta["features"])
        shape = (people, days, len(self.layout.names))

        def read(file: str, shape: tuple[int, ...]) -> torch.Tensor:
            return torch.from_numpy(np.fromfile(folder / file, np.float32).reshape(shape))

        self.own = read("own.f32", shape)
        self.missing = read("missing.f32", (people, days))
        self.others = [self.as_sent(read(f"other-{k}.f32", shape)) for k in range(self.meta["takes"])]

    def as_sent(self, rows: torch.Tensor) -> torch.Tensor:
        """Age, sex, height and weight are no device's: what of them is withheld stays so."""
        person = [g in ("age", "sex", "height", "weight", "bmi") for g in self.layout.groups]
        keep = torch.ones_like(rows)
        keep[..., person] = self.own[..., self.layout.mask_of][..., person]
        return rows * keep


def past_of(rows: torch.Tensor, day: torch.Tensor, sessions: torch.Tensor) -> torch.Tensor:
    """The last PAST days before `day`, newest first, zero beyond `sessions`: [B, PAST, ...] of rows [B, days, ...]."""
    index = torch.arange(len(rows))
    columns = []
    for age in range(PAST):
        present = (age < sessions).float()[:, None]
        columns.append(rows[index, (day - 1 - age).clamp(min=0)] * present)
    return torch.stack(columns, 1)


@torch.no_grad()
def score(model: Network, rows, past, targets, present) -> torch.Tensor:
    has_past = present.sum(1) > 0
    logits = torch.where(
        has_past[:, None], model.with_history(rows, past, targets, present), model.without_history(rows)
    )
    return scores_of(logits)


@torch.no_grad()
def roll_out(model: Network, rows: torch.Tensor) -> torch.Tensor:
    """The scores of each day as past targets of the next: [people, days, 7]."""
    people, days = rows.shape[:2]
    targets = torch.zeros(people, days, 7)
    for day in range(days):
        sessions = torch.full((people,), min(day, PAST))
        at = torch.full((people,), day)
        past = past_of(rows, at, sessions)
        sent = past_of(targets, at, sessions)
        present = (torch.arange(PAST)[None, :] < sessions[:, None]).float()
        targets[:, day] = targets_of(score(model, rows[:, day], past, sent, present))
    return targets


def windows(model: Network, data: Recordings, generator: torch.Generator) -> dict[str, torch.Tensor]:
    """Requests, and what other devices would have made of each: `moves` [B, takes, 5] points."""
    targets = roll_out(model, data.own)
    parts: dict[str, list[torch.Tensor]] = {}
    for _ in range(WINDOWS_PER_PERSON):
        day = torch.randint(1, data.days, (data.people,), generator=generator)
        sessions = torch.minimum(torch.randint(0, PAST + 1, (data.people,), generator=generator), day)
        present = (torch.arange(PAST)[None, :] < sessions[:, None]).float()
        index = torch.arange(data.people)
        sent = past_of(targets, day, sessions)
        own = data.own[index, day]
        past = past_of(data.own, day, sessions)
        scores = score(model, own, past, sent, present)
        moves = [
            score(model, other[index, day], past_of(other, day, sessions), sent, present)[:, :POINTS] - scores[:, :POINTS]
            for other in data.others
        ]
        made = {
            "person": index,
            "rows": own,
            "past": past,
            "targets": sent,
            "present": present,
            "scores": scores,
            "moves": torch.stack(moves, 1),
            "missing": data.missing[index, day, None],
        }
        for name, value in made.items():
            parts.setdefault(name, []).append(value)
    return {name: torch.cat(values) for name, values in parts.items()}


def pick(data: dict[str, torch.Tensor], chosen: torch.Tensor) -> dict[str, torch.Tensor]:
    return {name: value[chosen] for name, value in data.items()}


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
    table_below, table_above = torch.zeros_like(below), torch.zeros_like(above)
    low, high = (1 - COVERAGE) / 2, (1 + COVERAGE) / 2

    def cell(data, count: int, gaps: int) -> torch.Tensor:
        return (data["present"].sum(1).round() == count) & (data["missing"][:, 0] == gaps)

    for count in range(PAST + 1):
        for gaps in range(17):
            of, there = cell(fitted, count, gaps), cell(held, count, gaps)
            if there.sum() == 0 or of.sum() == 0:
                continue
            moves = fitted["moves"][of].flatten(0, 1)
            table_below[there] = (-torch.quantile(moves, low, dim=0)).clamp(min=0)
            table_above[there] = torch.quantile(moves, high, dim=0).clamp(min=0)
    table = interval_score(table_below, table_above, held["moves"])
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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recordings", type=Path, required=True)
    parser.add_argument("--network", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(options.seed)
    generator = torch.Generator().manual_seed(options.seed)
    data = Recordings(options.recordings)
    model = Network(data.layout)
    model.load_state_dict(torch.load(options.network / "state.pt", weights_only=True))
    model.eval()
    started = time.monotonic()
    requests = windows(model, data, generator)
    is_held = requests["person"] < HELD_OUT * data.people
    spread = Spread(data.layout, model.pooling)
    fitted, held = pick(requests, ~is_held), pick(requests, is_held)
    fit(spread, fitted, generator)
    calibrate(spread, held)
    found = report(spread, fitted, held)
    print(json.dumps(found, indent=1), file=sys.stderr)
    print(f"fitted in {time.monotonic() - started:.0f} s", file=sys.stderr)
    options.out.mkdir(parents=True, exist_ok=True)
    export_explain(model, spread, UNIT, options.out / "explain.onnx")
    weights = model.pooling.weights.tolist()
    described = {"people": data.people, "days": data.days, "seed": data.meta["seed"], "pooling": weights}
    (options.out / "explain-training.json").write_text(json.dumps(described) + "\n")


if __name__ == "__main__":
    main()
