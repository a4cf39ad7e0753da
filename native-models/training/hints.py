"""
Rules that the cohort's rows show too rarely for a network to learn: a faster heart in the hour before never lowers
stress and never raises attention. Compares rows with a usual hour with the same rows with a faster one, and without it.
"""

import torch

from cohort_data import SCORES, Layout
from network import CLAMP

ROWS = 512  # of a batch
WEIGHT = 5.0
NEAR = 4.0  # bpm: so near an hour is a usual one
BREATHS_PER_BEAT = 0.2
# A typical hour at rest where the past tells none: above the night's heart rate, or at all, bpm.
TYPICAL_ABOVE_NIGHT = 14.0
TYPICAL = 77.0
STRESS = 3


class Hints:
    def __init__(self, layout: Layout, meta: dict, generator: torch.Generator):
        self.generator = generator
        self.rest = meta["hourAtRest"]
        self.unit = {f["name"]: (f["centre"], f["scale"]) for f in meta["features"]}
        self.at = {name: layout.names.index(name) for name in ("hr_day", "rr_day", "hr_night")}

    def loss(self, model, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        rows, past, targets, present = (batch[name][:ROWS] for name in ("rows", "past", "targets", "present"))
        usual = self.is_usual(rows, model.pooling.rows(past)[0])
        faster = self.faster(rows)
        unknown = self.without_hour(rows)
        return WEIGHT * sum(
            penalty(view(rows), view(faster), view(unknown), usual)
            for view in (
                lambda x: torch.sigmoid(model.without_history(x)),
                lambda x: torch.sigmoid(model.with_history(x, past, targets, present)),
            )
        )

    def value(self, rows: torch.Tensor, name: str) -> torch.Tensor:
        centre, scale = self.unit[name]
        return centre + scale * rows[:, self.at[name]]

    def put(self, rows: torch.Tensor, name: str, value: torch.Tensor) -> None:
        """In its own unit, where the row knows it."""
        centre, scale = self.unit[name]
        mask = rows[:, self.at[name] - 1]
        rows[:, self.at[name]] = ((value - centre) / scale).clamp(-CLAMP, CLAMP) * mask

    def is_known(self, rows: torch.Tensor, name: str) -> torch.Tensor:
        return rows[:, self.at[name] - 1] > 0

    def is_usual(self, rows: torch.Tensor, pooled: torch.Tensor) -> torch.Tensor:
        """1 where the hour's heart rate is about that of the pooled past, or about a typical one where none is told."""
        night = self.value(rows, "hr_night") + TYPICAL_ABOVE_NIGHT
        typical = torch.where(self.is_known(rows, "hr_night"), night, torch.tensor(TYPICAL))
        usual = torch.where(self.is_known(pooled, "hr_day"), self.value(pooled, "hr_day"), typical)
        near = (self.value(rows, "hr_day") - usual).abs() < NEAR
        return (near & self.is_known(rows, "hr_day")).float()

    def faster(self, rows: torch.Tensor) -> torch.Tensor:
        """The same hour with a faster heart, in half of them with faster breathing, as far as it counts as one at rest."""
        made = rows.clone()
        heart = self.value(rows, "hr_day")
        most = torch.where(
            self.is_known(rows, "hr_night"),
            self.value(rows, "hr_night") + self.rest["aboveNight"],
            torch.tensor(float(self.rest["most"])),
        )
        rise = (most - heart).clamp(min=0) * torch.rand(len(rows), generator=self.generator)
        breathes = (torch.rand(len(rows), generator=self.generator) < 0.5).float()
        self.put(made, "hr_day", heart + rise)
        self.put(made, "rr_day", self.value(rows, "rr_day") + BREATHS_PER_BEAT * rise * breathes)
        return made

    def without_hour(self, rows: torch.Tensor) -> torch.Tensor:
        made = rows.clone()
        for name in ("hr_day", "rr_day"):
            made[:, self.at[name] - 1 : self.at[name] + 1] = 0
        return made


def penalty(own, faster, unknown, counts) -> torch.Tensor:
    """Squares in units of 25 points; only the made-up sides are pulled."""
    own = own.detach()
    calmed = (own[:, STRESS] - faster[:, STRESS]).clamp(min=0).square()
    sharpened = (faster[:, : SCORES - 1] - own[:, : SCORES - 1]).square().mean(1)
    # A left-out hour says as much as a usual one.
    unsaid = (unknown[:, :SCORES] - own[:, :SCORES]).square().mean(1)
    return 16 * (counts * (calmed + sharpened + unsaid)).mean()
