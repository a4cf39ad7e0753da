"""The linear rival: ridge on the same features, with the same pooled past and past targets."""

import torch
from torch import nn

from cohort_data import OUTCOMES, Layout
from network import Pooling


class Linear(nn.Module):
    def __init__(self, layout: Layout):
        super().__init__()
        width = len(layout.names)
        self.pooling = Pooling(layout)
        self.base = nn.Linear(width, OUTCOMES)
        self.history = nn.Linear(2 * width + 7, OUTCOMES)
        for layer in (self.base, self.history):
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)

    def without_history(self, rows: torch.Tensor) -> torch.Tensor:
        return self.base(rows)

    def with_history(self, rows, past, targets, present) -> torch.Tensor:
        pooled, _ = self.pooling.rows(past)
        change = (rows - pooled) * (rows * pooled)[:, self.pooling.mask_of]
        target, _, weight = self.pooling.targets(targets, present)
        context = torch.cat([pooled, change, target[:, 1:], weight], 1)
        return self.base(rows) + self.history(context)
