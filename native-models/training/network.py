"""The network, with two faces: without and with history."""

import torch
from torch import nn

from cohort_data import OUTCOMES, PAST, SCORES, Layout

CLAMP = 4.0
# Mean squared surprise (units of 25 points) at which past scores count half. Fixed: training alone would open the
# gate for the network's own scores too, and the closed loop would drift.
SCORE_GATE = 0.25
LEAK_MAX = 0.4
# How fast a leaning of the network's own label counts as a label.
SHARPNESS = 8.0
COMPOSITE = (0.4, 0.3, 0.3)  # C_SCORE from attention, memory, reasoning
CONFIDENCE_GROUPS = ("hr_day_known", "rr_day_known", "hr_night_known", "rr_night_known", "sleep_time_known")


def mlp(sizes: list[int]) -> nn.Sequential:
    layers: list[nn.Module] = []
    for left, right in zip(sizes, sizes[1:]):
        layers += [nn.Linear(left, right), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class Pooling(nn.Module):
    """The past as one session: weights e^(−decay·age) that no content can change, so the newest counts most."""

    def __init__(self, layout: Layout):
        super().__init__()
        age = torch.arange(PAST, dtype=torch.float32)[:, None]
        self.register_buffer("weights", torch.exp(-age * layout.decay[None, :]))  # [PAST, F]
        self.register_buffer("target_weights", torch.exp(-age[:, 0] * layout.target_decay))  # [PAST]
        self.register_buffer("mask_of", layout.mask_of)
        confidence = [layout.names.index(name) for name in CONFIDENCE_GROUPS]
        self.register_buffer("confidence", torch.tensor(confidence))

    def rows(self, past: torch.Tensor):
        """Weighted mean of what is known [B, F], and how much is known [B, F]."""
        total = (past * self.weights).sum(1)
        known = total[:, self.mask_of]
        return total / known.clamp(min=1e-6), known

    def targets(self, targets: torch.Tensor, present: torch.Tensor):
        """Weighted mean and mean square of past targets [B, 7], and the weight of the sessions [B, 1]."""
        weight = (present * self.target_weights)[..., None]
        total = weight.sum(1).clamp(min=1e-6)
        return (weight * targets).sum(1) / total, (weight * targets**2).sum(1) / total, total


class Network(nn.Module):
    """
    Without history: a small encoder with heads. With history: the same, plus a residual from the pooled past,
    plus the person's own past targets, as far as they say something that the network did not say itself.
    """

    def __init__(self, layout: Layout):
        super().__init__()
        width = len(layout.names)
        self.pooling = Pooling(layout)
        self.base = mlp([width, 32, 24, OUTCOMES])
        context = 2 * width + len(CONFIDENCE_GROUPS) + 1
        self.history = mlp([context, 48, 24, OUTCOMES])
        self.direct = nn.Linear(context, OUTCOMES, bias=False)
        nn.init.zeros_(self.direct.weight)
        self.register_buffer("score_gate", torch.tensor(SCORE_GATE))
        self.label_gate = nn.Parameter(torch.tensor(1.0))
        self.score_gain = nn.Parameter(torch.eye(SCORES) * 0.6)
        self.score_leak = nn.Parameter(torch.full((SCORES,), 0.1))
        self.label_gain = nn.Parameter(torch.tensor([0.4, 0.4]))
        self.label_gain_open = nn.Parameter(torch.tensor([0.5, 0.5]))
        nn.init.zeros_(self.history[-1].weight)
        nn.init.zeros_(self.history[-1].bias)

    def without_history(self, rows: torch.Tensor) -> torch.Tensor:
        return self.base(rows)

    def with_history(self, rows, past, targets, present) -> torch.Tensor:
        pooled, known = self.pooling.rows(past)
        both = (rows * pooled)[:, self.pooling.mask_of]
        change = (rows - pooled) * both
        target, square, weight = self.pooling.targets(targets, present)
        context = torch.cat([pooled, change, known[:, self.pooling.confidence], weight], 1)
        logits = self.base(rows) + self.history(context) + self.direct(context)
        return logits + self.feedback(self.base(pooled), target, square, self.agreement(past, targets, weight))

    def agreement(self, past: torch.Tensor, targets: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        """How far past labels are what the network would have said of each session alone: −1 to 1, [B, 2]."""
        own = torch.tanh(SHARPNESS * self.base(past)[..., SCORES:])
        labels = targets[..., 1 + SCORES :] * self.pooling.target_weights[:, None]
        return (labels * own).sum(1) / weight

    def feedback(self, own, target, square, agreement) -> torch.Tensor:
        """What past targets add to the logits: little where they repeat the network's own view, `own`."""
        view = torch.tanh(own / 2)
        scores = 2 * view[:, :SCORES]  # in units of 25 points, as targets are
        mean = target[:, 1 : 1 + SCORES]
        surprise = (square[:, 1 : 1 + SCORES] - 2 * scores * mean + scores**2).mean(1, keepdim=True)
        gate = surprise**2 / (surprise**2 + self.score_gate**2 + 1e-6)
        # The leak keeps what lies before the five sessions; well below one, so that the loop contracts.
        leak = self.score_leak.clamp(0, LEAK_MAX)
        from_scores = gate * ((mean - scores) @ self.score_gain) + leak * (mean - scores)
        labels = target[:, 1 + SCORES :]
        disagreement = (1 - agreement) ** 2
        open_label = disagreement**2 / (disagreement**2 + self.label_gate**2 + 1e-6)
        gain = self.label_gain * open_label + self.label_gain_open * gate
        from_labels = gain * (labels - view[:, SCORES:])
        return torch.cat([from_scores, from_labels], 1)


def scores_of(logits: torch.Tensor) -> torch.Tensor:
    """[B, 6] logits to [B, 7]: C_SCORE and four scores in 0..100, two probabilities."""
    share = torch.sigmoid(logits)
    composite = sum(weight * share[:, k] for k, weight in enumerate(COMPOSITE))
    return torch.cat([100 * composite[:, None], 100 * share[:, :SCORES], share[:, SCORES:]], 1)


def targets_of(scores: torch.Tensor) -> torch.Tensor:
    """Scores as a caller sends them back: rounded to two decimals, scaled, labels as ±1."""
    numbers = (torch.round(scores[:, : 1 + SCORES] * 100) / 100 - 50) / 25
    labels = torch.where(scores[:, 1 + SCORES :] >= 0.5, 1.0, -1.0)
    return torch.cat([numbers, labels], 1)
