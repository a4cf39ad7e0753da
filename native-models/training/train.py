"""Fits the served network on a cohort written by cohort/write.ts. One seed, one thread, one result."""

import argparse
import json
import math
import sys
import time
from pathlib import Path

import torch

from cohort_data import OUTCOMES, PAST, PRIMARY, SCORES, Cohort, draw_toggles, normal_cdf
from export import export_graphs
from hints import Hints
from network import COMPOSITE, Network, scores_of, targets_of

SEED = 1
ROUNDS = 3
EPOCHS = 6
BATCH = 1024
LEARNING_RATE = 3e-3
WEIGHT_DECAY = 1e-3
TRUTHS = 0.2  # share of windows whose past targets are measured truths, not the network's own scores
# Weight of a window by kind of past targets (see `truths`): measured outcomes scatter more than own scores.
WEIGHTS = (1.0, 0.2, 0.2, 0.6)


class Windows:
    """Draws training rows: a day, up to five days before it, and what their past targets were."""

    def __init__(self, cohort: Cohort, generator: torch.Generator):
        self.cohort = cohort
        self.generator = generator
        self.rolled = torch.zeros(cohort.people, cohort.days, 7)

    def epoch(self):
        cohort = self.cohort
        order = torch.randperm(cohort.people * cohort.days, generator=self.generator)
        for start in range(0, len(order), BATCH):
            index = order[start : start + BATCH]
            yield self.batch(index // cohort.days, index % cohort.days)

    def batch(self, person: torch.Tensor, day: torch.Tensor) -> dict[str, torch.Tensor]:
        cohort, generator = self.cohort, self.generator
        count = len(person)
        most = torch.minimum(day, torch.tensor(PAST))
        length = (torch.rand(count, generator=generator) * (most + 1)).long().clamp(max=PAST)
        # Half of the windows have full length, since most callers send all five sessions.
        length = torch.where(torch.rand(count, generator=generator) < 0.5, most, length)
        past_day = day[:, None] - 1 - torch.arange(PAST)[None, :]
        present = (torch.arange(PAST)[None, :] < length[:, None]).float()
        chosen = past_day.clamp(min=0)
        rows = cohort.rows[person, day]
        past = cohort.rows[person[:, None], chosen]
        on = draw_toggles(count, generator)
        keep = cohort.layout.keep(on)
        rows = rows * keep
        past_keep = torch.where(torch.rand(count, 1, generator=generator) < 0.2, torch.ones(1), keep)
        # Callers who withhold age or sex do so every time.
        for name in ("age", "sex"):
            toggle = list(PRIMARY).index(name)
            past_keep = torch.where(cohort.layout.toggles[toggle] > 0, keep, past_keep)
        past = past * past_keep[:, None, :] * present[..., None]
        causes = cohort.causes[person, day]
        past_causes = cohort.causes[person[:, None], chosen]
        targets = self.rolled[person[:, None], chosen]
        truth, wanted, kind = self.truths(causes, past_causes)
        numbers = ((kind == 1) | (kind == 2))[:, None, None]
        labels = ((kind == 1) | (kind == 3))[:, None, None]
        targets = torch.cat(
            [
                torch.where(numbers, truth[..., :5], targets[..., :5]),
                torch.where(labels, truth[..., 5:], targets[..., 5:]),
            ],
            2,
        )
        expected = cohort.expected(causes)
        use_numbers = ((kind == 1) | (kind == 2))[:, None]
        use_labels = ((kind == 1) | (kind == 3))[:, None]
        goal = torch.cat(
            [
                torch.where(use_numbers, wanted[:, :SCORES], expected[:, :SCORES]),
                torch.where(use_labels, wanted[:, SCORES:], expected[:, SCORES:]),
            ],
            1,
        )
        return {
            "rows": rows,
            "past": past,
            "targets": targets * present[..., None],
            "present": present,
            "expected": expected,
            "goal": torch.where(present.sum(1, keepdim=True) > 0, goal, expected),
            "weight": torch.tensor(WEIGHTS)[kind],
        }

    def truths(self, causes, past_causes):
        """
        Measured past outcomes of a trait drawn anew for each window, and what is to be expected of today given
        that trait. Kinds: 0 own scores, 1 all measured, 2 numbers measured, 3 labels measured (as in diaries).
        """
        cohort, generator = self.cohort, self.generator
        count = len(causes)
        effect, slope, spread = cohort.scaled(causes)
        past_effect, past_slope, past_spread = cohort.scaled(past_causes)
        trait_sd = torch.sqrt(cohort.trait_variance)
        day_sd = torch.sqrt(1 - cohort.trait_variance)
        trait = torch.randn(count, OUTCOMES, generator=generator) * trait_sd
        # One susceptibility to lost sleep, another of valence to heart rate.
        lean = torch.randn(count, 2, generator=generator)[:, [0, 0, 0, 0, 1, 1]]
        noise = torch.randn(count, PAST, OUTCOMES, generator=generator) * day_sd
        outcome = past_effect + lean[:, None] * past_slope + trait[:, None] + noise
        share = normal_cdf(outcome[..., :SCORES] / past_spread[..., :SCORES])
        composite = sum(weight * share[..., k : k + 1] for k, weight in enumerate(COMPOSITE))
        numbers = torch.cat([composite, share], 2) * 4 - 2
        labels = torch.where(outcome[..., SCORES:] >= 0, 1.0, -1.0)
        wanted = normal_cdf((effect + lean * slope + trait) / torch.sqrt(spread**2 + day_sd**2))
        draw = torch.rand(count, generator=generator)
        kind = torch.zeros(count, dtype=torch.long)
        kind[draw < TRUTHS] = 1
        kind[draw < TRUTHS * 0.6] = 2
        kind[draw < TRUTHS * 0.4] = 3
        return torch.cat([numbers, labels], 2), wanted, kind

    @torch.no_grad()
    def roll_out(self, model) -> None:
        """Scores every day in order, feeding each day's scores to the next: what callers will send back."""
        cohort = self.cohort
        for day in range(cohort.days):
            rows = cohort.rows[:, day]
            if day == 0:
                logits = model.without_history(rows)
            else:
                past_days = [day - 1 - index for index in range(PAST)]
                present = torch.tensor([1.0 if past >= 0 else 0.0 for past in past_days]).expand(cohort.people, PAST)
                chosen = torch.tensor([max(past, 0) for past in past_days])
                past = cohort.rows[:, chosen] * present[..., None]
                targets = self.rolled[:, chosen] * present[..., None]
                logits = torch.cat(
                    [
                        model.with_history(*parts)
                        for parts in zip(
                            rows.split(4096), past.split(4096), targets.split(4096), present.split(4096)
                        )
                    ]
                )
            self.rolled[:, day] = targets_of(scores_of(logits))


def loss_of(model, batch) -> torch.Tensor:
    """Squared error in units of 25 points, without and with history; measured truths weigh less: they scatter."""
    alone = torch.sigmoid(model.without_history(batch["rows"]))
    together = torch.sigmoid(
        model.with_history(batch["rows"], batch["past"], batch["targets"], batch["present"])
    )
    has_past = (batch["present"].sum(1) > 0).float() * batch["weight"]
    alone_loss = ((alone - batch["expected"]) * 4).square().mean()
    together_loss = ((together - batch["goal"]) * 4).square().mean(1)
    return alone_loss + (together_loss * has_past).mean()


def fit(model, windows: Windows, hints: Hints) -> None:
    for turn in range(ROUNDS):
        windows.roll_out(model)
        steps = EPOCHS * math.ceil(windows.cohort.people * windows.cohort.days / BATCH)
        optimiser = torch.optim.AdamW(model.parameters(), LEARNING_RATE, weight_decay=WEIGHT_DECAY)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, LEARNING_RATE, total_steps=steps, pct_start=0.2)
        for epoch in range(EPOCHS):
            losses = []
            for batch in windows.epoch():
                optimiser.zero_grad()
                loss = loss_of(model, batch) + hints.loss(model, batch)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimiser.step()
                schedule.step()
                losses.append(loss.item())
            mean = sum(losses) / len(losses)
            print(f"round {turn + 1}/{ROUNDS}, epoch {epoch + 1}/{EPOCHS}: loss {mean:.5f}", file=sys.stderr, flush=True)
    windows.roll_out(model)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cohort", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()

    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(SEED)
    generator = torch.Generator().manual_seed(SEED)
    cohort = Cohort(options.cohort)
    windows = Windows(cohort, generator)
    started = time.monotonic()
    model = Network(cohort.layout)
    hints = Hints(cohort.layout, cohort.meta, generator)
    fit(model, windows, hints)
    print(f"fitted in {time.monotonic() - started:.0f} s", file=sys.stderr)
    options.out.mkdir(parents=True, exist_ok=True)
    torch.save(model.state_dict(), options.out / "state.pt")
    export_graphs(model.eval(), options.out)
    done = {
        "seed": SEED,
        "rounds": ROUNDS,
        "epochs": EPOCHS,
        "people": cohort.people,
        "days": cohort.days,
        "sessions": cohort.people * cohort.days,
        "cohortSeed": cohort.meta["seed"],
        "featuresHash": cohort.meta["featuresHash"],
        "weights": sum(p.numel() for p in model.parameters()),
    }
    (options.out / "training.json").write_text(json.dumps(done, indent=2) + "\n")


if __name__ == "__main__":
    main()
