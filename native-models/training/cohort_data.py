"""The cohort as tensors: what was sensed, what was true, and windows of up to six sessions."""

import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

PAST = 5
SCORES = 4  # attention, memory, reasoning, stress; valence and arousal follow
OUTCOMES = 6

# Mask groups that go together when a caller leaves something out, and groups that need several parts.
PRIMARY = {
    "hr_day": ["hr_day"],
    "rr_day": ["rr_day"],
    "hr_night": ["hr_night"],
    "rr_night": ["rr_night"],
    "sleep_time": ["sleep_time"],
    "stages": ["deep_share", "rem_share", "light_share"],
    "awake": ["awake"],
    "age": ["age"],
    "sex": ["sex"],
    "height": ["height"],
    "weight": ["weight"],
}
COMPOUND = {
    "efficiency": ["sleep_time", "awake"],
    "bmi": ["height", "weight"],
}
COMPLETE = 0.6  # share of requests that give all
WITHHELD = {"age": 0.06, "sex": 0.1}


def normal_cdf(z: torch.Tensor) -> torch.Tensor:
    return 0.5 * (1 + torch.erf(z / math.sqrt(2)))


@dataclass
class Layout:
    """Where features stand in a row."""

    names: list[str]
    groups: list[str]
    mask_of: torch.Tensor  # [F] index of the mask that belongs to each feature
    toggles: torch.Tensor  # [T, F] 1 where toggle t being off takes feature f out
    decay: torch.Tensor  # [F] how fast past values lose weight, see recency.ts
    target_decay: float  # and past scores

    @staticmethod
    def of(meta: dict) -> "Layout":
        features = meta["features"]
        names = [feature["name"] for feature in features]
        groups = [feature["group"] for feature in features]
        mask_of = torch.tensor([names.index(f"{group}_known") for group in groups])
        parts = {group: [toggle] for toggle, members in PRIMARY.items() for group in members}
        parts |= COMPOUND
        order = list(PRIMARY)
        toggles = torch.zeros(len(order), len(names))
        for index, group in enumerate(groups):
            for part in parts[group]:
                toggles[order.index(part), index] = 1
        decay = torch.tensor([feature["decay"] for feature in features])
        return Layout(names, groups, mask_of, toggles, decay, meta["targetDecay"])

    def keep(self, on: torch.Tensor) -> torch.Tensor:
        """[..., T] toggles (1 = given) to [..., F] factors."""
        return ((1 - on) @ self.toggles < 0.5).float()


class Cohort:
    """Feature rows [people, days, F] and causes [people, days, 2, outcomes] (see norms.ts, Standing)."""

    def __init__(self, folder: Path):
        self.meta = json.loads((folder / "cohort.json").read_text())
        people, days = self.meta["people"], self.meta["days"]
        self.layout = Layout.of(self.meta)
        width = len(self.layout.names)
        rows = np.fromfile(folder / "features.f32", np.float32).reshape(people, days, width)
        causes = np.fromfile(folder / "causes.f32", np.float32).reshape(people, days, 2, OUTCOMES)
        self.rows = torch.from_numpy(rows)
        self.causes = torch.from_numpy(causes)
        self.group_sd = torch.tensor(self.meta["groupSd"])
        self.trait_variance = torch.tensor(self.meta["traitVariance"])
        self.people, self.days = people, days

    def scaled(self, causes: torch.Tensor):
        """Effect, susceptibility and spread within age and sex: [..., outcomes] each."""
        spread = self.group_sd.expand(causes.shape[:-2] + (OUTCOMES,)).clone()
        spread[..., SCORES:] = 0  # labels are thresholds of the outcome, not percentiles of it
        return causes[..., 0, :], causes[..., 1, :], spread

    def expected(self, causes: torch.Tensor) -> torch.Tensor:
        """Expected percentile or probability in 0..1, traits and noise integrated out."""
        effect, slope, spread = self.scaled(causes)
        return normal_cdf(effect / torch.sqrt(spread**2 + 1 + slope**2))


def draw_toggles(count: int, generator: torch.Generator) -> torch.Tensor:
    """Which parts of a request are given: mostly all, else a random part, now and then nothing. [count, T]"""
    share = torch.rand(count, 1, generator=generator)
    on = (torch.rand(count, len(PRIMARY), generator=generator) < share).float()
    complete = torch.rand(count, generator=generator) < COMPLETE
    on[complete] = 1
    on[torch.rand(count, generator=generator) < 0.01] = 0
    # Age and sex are the fields most often withheld alone.
    for name, share in WITHHELD.items():
        on[torch.rand(count, generator=generator) < share, list(PRIMARY).index(name)] = 0
    return on
