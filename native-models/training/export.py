"""Writes a fitted model as two ONNX graphs and proves that ONNX Runtime gives what PyTorch gives."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch

from cohort_data import OUTCOMES, PAST, SCORES
from graph import Graph
from network import CLAMP, LEAK_MAX, SHARPNESS, scores_of

AGREEMENT = 1e-4
# Added to divisors: an unknown past gives 0, and known values stay unchanged.
NOTHING = 1e-7


def base_graph(model) -> Graph:
    graph = Graph()
    graph.finish(graph.layers(graph.bounded("session"), model.base))
    return graph


class Blocks:
    """Names for neighbouring columns of a matrix."""

    def __init__(self, **widths: int):
        self.width = sum(widths.values())
        ends = np.cumsum(list(widths.values()))
        self.of = {name: slice(end - width, end) for (name, width), end in zip(widths.items(), ends.tolist())}

    def __getitem__(self, name: str) -> slice:
        return self.of[name]

    def at(self, name: str, index: int) -> int:
        return self.of[name].start + index


class Pooled:
    """The past as one session, in the graph: mirrors Pooling and what Network.with_history makes of it."""

    def __init__(self, graph: Graph, model, rows: str, past: str):
        pooling = model.pooling
        self.mask_of = pooling.mask_of.numpy()
        width = len(self.mask_of)
        columns = np.arange(width)
        # Masks are spread over their groups, and masks and values swapped, by one-hot products: Gather costs more.
        spread = (self.mask_of[None, :] == columns[:, None]).astype(np.float32)
        weighted = graph.node("Mul", past, graph.constant(pooling.weights.numpy()))
        total = graph.node("ReduceSum", weighted, graph.constant([1], np.int64), keepdims=0)
        self.known = graph.node("Gemm", total, graph.constant(spread), graph.constant(np.full(width, NOTHING)))
        self.rows = graph.node("Div", total, self.known)
        # For each group, today's value if the past has one, and the past's value if today has one: a missing value
        # is 0, and so is its mask. The change is the difference of the two.
        same_group = self.mask_of[None, :] == self.mask_of[:, None]
        partner = (same_group & ~np.eye(width, dtype=bool)).astype(np.float32)
        self.cross = graph.node("Mul", rows, graph.node("MatMul", self.rows, graph.constant(partner)))

    def widened(self, weight: np.ndarray, model) -> np.ndarray:
        """The weights of a layer for [rows, cross, known, …] where it has them for [rows, change, a few groups' known, …]."""
        width = len(self.mask_of)
        change = weight[:, width : 2 * width]
        cross = np.zeros((weight.shape[0], width), np.float32)
        for column, mask in enumerate(self.mask_of):
            if mask != column:
                cross[:, column] += change[:, column]
                cross[:, mask] -= change[:, column]
        chosen = model.pooling.confidence.numpy()
        known = np.zeros((weight.shape[0], width), np.float32)
        known[:, chosen] = weight[:, 2 * width : 2 * width + len(chosen)]
        return np.concatenate([weight[:, :width], cross, known, weight[:, 2 * width + len(chosen) :]], 1)


class PastTargets:
    """Weighted sums of the past targets, by columns that are asked for. Absent sessions are zero."""

    def __init__(self, graph: Graph, model):
        self.weights = model.pooling.target_weights.numpy()
        self.flat = graph.bounded(graph.node("Flatten", "targets", axis=1))
        present = graph.bounded("present")
        self.all = graph.node("Concat", self.flat, graph.node("Mul", self.flat, self.flat), present, axis=1)
        self.inputs = Blocks(targets=PAST * 7, squares=PAST * 7, present=PAST)

    def mixing(self, width: int) -> np.ndarray:
        return np.zeros((self.inputs.width, width), np.float32)

    def column(self, kind: str, session: int, outcome: int) -> int:
        """Where outcome `outcome` of a session lies among targets or squares: C_SCORE stands before them."""
        return self.inputs.at(kind, session * 7 + 1 + outcome)

    def means(self, graph: Graph, mixing: np.ndarray) -> tuple[str, str]:
        """Sums by `mixing`, divided by the weight of the sessions; and that weight, [B, 1]."""
        weight = np.zeros((self.inputs.width, 1), np.float32)
        weight[self.inputs["present"], 0] = self.weights
        bias = np.append(np.zeros(mixing.shape[1], np.float32), np.float32(NOTHING))
        matrix = graph.constant(np.concatenate([mixing, weight], 1))
        sums = graph.node("Gemm", self.all, matrix, graph.constant(bias))
        top, total = graph.pieces(sums, [mixing.shape[1], 1])
        return graph.node("Div", top, total), total


def history_graph(model) -> Graph:
    graph = Graph()
    rows = graph.bounded("session")
    past = graph.bounded("past")
    pooled = Pooled(graph, model, rows, past)
    targets = PastTargets(graph, model)
    # The encoder runs once over today's row, those of the past, and the pooled past.
    flat_past = graph.node("Flatten", past, axis=1)
    encoded = graph.node("Concat", rows, flat_past, pooled.rows, axis=1)
    encoded = graph.node("Reshape", encoded, graph.constant([-1, len(pooled.mask_of)], np.int64))
    encoded = graph.layers(encoded, model.base)
    own = graph.node("Reshape", encoded, graph.constant([-1, (PAST + 2) * OUTCOMES], np.int64))
    gated, difference, weight = _feedback(graph, model, own, targets)

    context = graph.node("Concat", pooled.rows, pooled.cross, pooled.known, weight, axis=1)
    hidden = _hidden(graph, model, pooled, context)

    last = model.history[-1].weight.detach().numpy()
    same = np.eye(OUTCOMES, dtype=np.float32)
    leak = np.append(model.score_leak.detach().clamp(0, LEAK_MAX).numpy(), [0, 0]).astype(np.float32)
    parts = {
        own: np.concatenate([same, np.zeros(((PAST + 1) * OUTCOMES, OUTCOMES), np.float32)]),
        gated: np.concatenate([same, same]),
        difference: np.concatenate([np.diag(leak), np.zeros((FELT.width - OUTCOMES, OUTCOMES), np.float32)]),
        hidden: np.concatenate([last.T, same, -same]),
    }
    joined = graph.node("Concat", *parts, axis=1)
    bias = graph.constant(model.history[-1].bias.detach().numpy())
    graph.finish(graph.node("Gemm", joined, graph.constant(np.concatenate(list(parts.values()))), bias))
    return graph


def _hidden(graph: Graph, model, pooled: Pooled, context: str) -> str:
    """
    The last hidden layer of the residual, then `direct` of the context in two parts, its positive and its negative:
    both pass through the ReLUs as they are, which spares a product of its own.

        first layer, of the context       further layers, of  hidden  direct  −direct
        hidden    [  W first  ]           hidden            [   W       0       0   ]
        direct    [   direct  ]           direct            [   0       1       0   ]
        −direct   [  −direct  ]           −direct           [   0       0       1   ]

    The last product of the graph takes W last · hidden + relu(direct) − relu(−direct).
    """
    direct = pooled.widened(model.direct.weight.detach().numpy(), model)
    *hidden, _ = [layer for layer in model.history if isinstance(layer, torch.nn.Linear)]
    x, passed = context, np.concatenate([direct, -direct])
    for layer in hidden:
        weight = layer.weight.detach().numpy()
        if x == context:
            weight = np.concatenate([pooled.widened(weight, model), passed])
        else:
            beside = np.zeros((weight.shape[0], 2 * OUTCOMES), np.float32)
            below = np.zeros((2 * OUTCOMES, weight.shape[1]), np.float32)
            weight = np.block([[weight, beside], [below, np.eye(2 * OUTCOMES, dtype=np.float32)]])
        bias = np.append(layer.bias.detach().numpy(), np.zeros(2 * OUTCOMES, np.float32))
        x = graph.node("Relu", graph.node("Gemm", x, graph.constant(weight), graph.constant(bias), transB=1))
    return x


# What past targets add to the network's own view: their difference from it, 1 − agreement of the labels, and the
# mean of the scores, whose square separates the spread of the targets from their mean square.
FELT = Blocks(difference=OUTCOMES, apart=OUTCOMES - SCORES, mean=SCORES)
# Gates: by the scores' surprise, shared by all outcomes; by the labels' disagreement, for labels only.
GATES = Blocks(surprise=OUTCOMES, labels=OUTCOMES)


def _feedback(graph: Graph, model, own: str, targets: PastTargets) -> tuple[str, str, str]:
    """
    Mirrors Network.agreement and Network.feedback. `own` are the logits of today, the past sessions and the pooled
    past. Gives what the gates let through [B, 12], what is felt [B, 12], and the weight of the sessions.
    """
    rows = Blocks(today=OUTCOMES, past=PAST * OUTCOMES, pooled=OUTCOMES)
    scale = np.zeros(rows.width, np.float32)
    scale[rows["past"]] = np.tile([0] * SCORES + [SHARPNESS] * 2, PAST)
    scale[rows["pooled"]] = 0.5
    view = graph.node("Tanh", graph.node("Mul", own, graph.constant(scale)))

    # Weighted means: factors of the views, what is added to them, and the mean square for the gates.
    sums = Blocks(factors=rows.width, felt=FELT.width, square=GATES.width)
    mixing = targets.mixing(sums.width)
    for session, weight in enumerate(targets.weights):
        here = targets.inputs.at("present", session)
        # Scores in units of 25 points, labels in −1..1.
        units = weight * np.array([2] * SCORES + [1, 1])
        mixing[here, sums.at("factors", rows["pooled"].start) :][:OUTCOMES] = units
        mixing[here, sums.at("felt", FELT["apart"].start) :][: OUTCOMES - SCORES] = weight
        for outcome in range(OUTCOMES):
            target = targets.column("targets", session, outcome)
            mixing[target, sums.at("felt", outcome)] = weight
            if outcome >= SCORES:
                label = rows.at("past", session * OUTCOMES + outcome)
                mixing[target, sums.at("factors", label)] = weight
            else:
                mixing[target, sums.at("felt", FELT.at("mean", outcome))] = weight
                square = targets.column("squares", session, outcome)
                mixing[square, sums["square"]][GATES["surprise"]] = weight / SCORES
    means, weight = targets.means(graph, mixing)
    factors, added, square = graph.pieces(means, [rows.width, FELT.width, GATES.width])

    signs = np.zeros((rows.width, FELT.width), np.float32)
    for outcome in range(OUTCOMES):
        signs[rows.at("pooled", outcome), outcome] = -1
        if outcome >= SCORES:
            for session in range(PAST):
                label = rows.at("past", session * OUTCOMES + outcome)
                signs[label, FELT.at("apart", outcome - SCORES)] = -1
    felt = graph.node("Gemm", graph.node("Mul", view, factors), graph.constant(signs), added)

    # surprise = mean over scores of (square − 2·mean·view + view²) = square + mean of (difference² − mean²)
    parts = np.zeros((FELT.width, GATES.width), np.float32)
    parts[FELT["difference"]][:SCORES, GATES["surprise"]] = 1 / SCORES
    parts[FELT["mean"], GATES["surprise"]] = -1 / SCORES
    parts[FELT["apart"], GATES.at("labels", SCORES) :] = np.eye(OUTCOMES - SCORES)
    value = graph.node("Gemm", graph.node("Mul", felt, felt), graph.constant(parts), square)
    halves = np.repeat([float(model.score_gate), float(model.label_gate.detach())], OUTCOMES)
    squared = graph.node("Mul", value, value)
    opened = graph.node("Div", squared, graph.node("Add", squared, graph.constant(halves**2 + 1e-6)))

    gains = np.zeros((FELT.width, GATES.width), np.float32)
    gains[:SCORES, :SCORES] = model.score_gain.detach().numpy()
    for label, outcome in enumerate(range(SCORES, OUTCOMES)):
        gains[outcome, outcome] = model.label_gain_open.detach().numpy()[label]
        gains[outcome, GATES.at("labels", outcome)] = model.label_gain.detach().numpy()[label]
    return graph.node("Mul", opened, graph.node("MatMul", felt, graph.constant(gains))), felt, weight


def export_graphs(model, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    width = model.base[0].in_features
    base_graph(model).save(out / "base.onnx", {"session": ["B", width]})
    inputs = {
        "session": ["B", width],
        "past": ["B", PAST, width],
        "targets": ["B", PAST, 7],
        "present": ["B", PAST],
    }
    history_graph(model).save(out / "history.onnx", inputs)
    check_agreement(model, out)


def random_rows(pooling, generator: torch.Generator, *shape: int) -> torch.Tensor:
    """Rows with any values missing."""
    mask_of = pooling.mask_of
    rows = (torch.randn(*shape, len(mask_of), generator=generator) * 1.5).clamp(-CLAMP, CLAMP)
    masks = mask_of.unique()
    rows[..., masks] = (rows[..., masks] > 0).float()
    return rows * rows[..., mask_of]


def prove(path: Path, inputs: dict[str, torch.Tensor], wanted: torch.Tensor) -> None:
    """ONNX Runtime gives what PyTorch gives, within AGREEMENT of a point."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    [got] = session.run(None, {entry.name: inputs[entry.name].numpy() for entry in session.get_inputs()})
    worst = float(np.abs(got - wanted.numpy()).max())
    print(f"{path.name}: {len(onnx.load(path).graph.node)} nodes, differs from PyTorch by {worst:.1e}")
    if not worst < AGREEMENT:
        raise SystemExit(f"{path.name} differs from PyTorch by {worst}")


@torch.no_grad()
def check_agreement(model, out: Path) -> None:
    generator = torch.Generator().manual_seed(0)
    rows, past = (random_rows(model.pooling, generator, *shape) for shape in ((64,), (64, PAST)))
    present = (torch.arange(PAST)[None, :] < (torch.arange(64) % PAST + 1)[:, None]).float()
    past = past * present[..., None]
    targets = (torch.rand(64, PAST, 7, generator=generator) * 4 - 2) * present[..., None]
    inputs = {"session": rows, "past": past, "targets": targets, "present": present}
    prove(out / "base.onnx", inputs, scores_of(model.without_history(rows)))
    prove(out / "history.onnx", inputs, scores_of(model.with_history(rows, past, targets, present)))
