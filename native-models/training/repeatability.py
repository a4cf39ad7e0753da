"""
How far another recording of the same days would have moved each score: the same people as their own devices and other
ordinary ones recorded them, as a table by past sessions and missing fields. Writes the graph of explained requests.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
import torch

from cohort_data import PAST, Layout
from explain_graph import export_explain
from network import Network, scores_of, targets_of

POINTS = 5  # C_SCORE and the four scores
COVERAGE = 0.8
# Fields of a session.
FIELDS = 16
# Sessions lacking this many fields or more share a row: few lack more.
MISSING_MOST = 13
WINDOWS_PER_PERSON = 5


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


def cells(data: dict[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """Past sessions and missing fields of each request, as rows of the table."""
    return data["present"].sum(1).round().long(), data["missing"][:, 0].clamp(max=MISSING_MOST).long()


def reach_table(data: dict[str, torch.Tensor]) -> torch.Tensor:
    """[PAST + 1, FIELDS + 1, 10]: points below and above a score between which COVERAGE of the moves lie."""
    sessions, missing = cells(data)
    tail = (1 - COVERAGE) / 2
    table = torch.zeros(PAST + 1, FIELDS + 1, 2 * POINTS)
    for count in range(PAST + 1):
        for gaps in range(MISSING_MOST + 1):
            moves = data["moves"][(sessions == count) & (missing == gaps)].flatten(0, 1)
            table[count, gaps, :POINTS] = -torch.quantile(moves, tail, dim=0)
            table[count, gaps, POINTS:] = torch.quantile(moves, 1 - tail, dim=0)
        table[count, MISSING_MOST + 1 :] = table[count, MISSING_MOST]
    return table.clamp(min=0)


def read(recordings: Path, network: Path, generator: torch.Generator) -> tuple[Network, dict[str, torch.Tensor]]:
    """The network, and requests with what other devices would have made of them."""
    data = Recordings(recordings)
    model = Network(data.layout)
    model.load_state_dict(torch.load(network / "state.pt", weights_only=True))
    model.eval()
    return model, windows(model, data, generator)


def parsed_options(description: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--recordings", type=Path, required=True)
    parser.add_argument("--network", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(options.seed)
    return options


def main() -> None:
    options = parsed_options(__doc__)
    if options.out is None:
        raise SystemExit("repeatability.py needs --out DIR")
    started = time.monotonic()
    model, data = read(options.recordings, options.network, torch.Generator().manual_seed(options.seed))
    table = reach_table(data)
    print(f"{len(data['rows'])} requests in {time.monotonic() - started:.0f} s", file=sys.stderr)
    options.out.mkdir(parents=True, exist_ok=True)
    export_explain(model, table, options.out / "explain.onnx")
    weights = {"pooling": model.pooling.weights.tolist()}
    (options.out / "explain-training.json").write_text(json.dumps(weights) + "\n")


if __name__ == "__main__":
    main()
