"""
The graph of an explained request: all mixtures of today and the reference day in one run. The past and its targets
are the same for all of them, so what is made of those alone is computed once.
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from onnx import TensorProto

from cohort_data import OUTCOMES, PAST, SCORES, Layout
from export import prove, random_rows
from graph import Graph
from network import LEAK_MAX, SHARPNESS, Network, scores_of

MIXTURES = 64


def explain_graph(model, table: torch.Tensor) -> Graph:
    """
    Inputs: session [64, F], the last row today; past [1, 5, F], targets [1, 5, 7], present [1, 5], missing [1, 1]; `table` is
    [6, 17, 10], points by past sessions and missing fields.
    """
    graph = Graph()
    pooling = model.pooling
    mask_of = pooling.mask_of.numpy()
    masks = np.unique(mask_of)
    width = len(mask_of)
    rows = graph.bounded("session")
    past = graph.bounded("past")
    targets = Targets(graph, model)

    # The past as one row: once for all mixtures.
    pick = np.zeros((width, len(masks)), np.float32)
    pick[masks, np.arange(len(masks))] = 1
    spread_out = (mask_of[None, :] == masks[:, None]).astype(np.float32)
    weighted = graph.node("Mul", past, graph.constant(pooling.weights.numpy()))
    total = graph.node("ReduceSum", weighted, graph.constant([1], np.int64), keepdims=0)
    known = graph.node("MatMul", total, graph.constant(pick))
    inverse = graph.node("Reciprocal", graph.node("Max", known, graph.constant(1e-6)))
    pooled = graph.node("Mul", total, graph.node("MatMul", inverse, graph.constant(spread_out)))
    known_both = graph.node("Mul", known, inverse)
    has_both = graph.node("Mul", graph.node("MatMul", rows, graph.constant(pick)), known_both)
    both = graph.node("MatMul", has_both, graph.constant(spread_out))
    change = graph.node("Mul", graph.node("Sub", rows, pooled), both)

    # Linear layers over [pooled, change, known, weight]: the part shared by all mixtures becomes a bias.
    shared = graph.node("Concat", pooled, known, targets.weight, axis=1)
    today = graph.layers(rows, model.base)
    first = model.history[0]
    hidden = _split(graph, shared, change, first.weight.detach().numpy(), first.bias.detach().numpy(), model, masks)
    hidden = graph.layers(hidden, model.history[1:])
    direct = _split(graph, shared, change, model.direct.weight.detach().numpy(), np.zeros(OUTCOMES), model, masks)
    feedback = _feedback(graph, model, graph.layers(pooled, model.base), targets, past)
    residual = graph.node("Sum", hidden, direct, feedback)
    sessions = graph.node("ReduceSum", "present", graph.constant([1], np.int64), keepdims=1)
    has_past = graph.node("Clip", sessions, graph.constant(0.0), graph.constant(1.0))
    graph.finish(graph.node("Add", today, graph.node("Mul", residual, has_past)))

    # Repeatability: a row of the table by past sessions and missing fields.
    fields = table.shape[1]
    place = graph.node("Add", graph.node("Mul", sessions, graph.constant(float(fields))), "missing")
    index = graph.node("Cast", graph.node("Round", graph.node("Flatten", place, axis=0)), to=TensorProto.INT64)
    rows_of_table = graph.constant(table.reshape(-1, table.shape[2]).numpy())
    found = graph.node("Gather", rows_of_table, graph.node("Squeeze", index), axis=0)
    graph.node("Reshape", found, graph.constant([1, table.shape[2]], np.int64), output="reach")
    return graph


def _split(graph: Graph, shared: str, change: str, weight: np.ndarray, bias: np.ndarray, model, masks) -> str:
    """A layer over [pooled, change, known, weight] for [1, ...] shared and [64, F] change."""
    width = model.pooling.mask_of.shape[0]
    chosen = model.pooling.confidence.numpy()
    of_known = np.zeros((weight.shape[0], len(masks)), np.float32)
    of_known[:, np.searchsorted(masks, chosen)] = weight[:, 2 * width : 2 * width + len(chosen)]
    of_shared = np.concatenate([weight[:, :width], of_known, weight[:, -1:]], 1)
    once = graph.node("Gemm", shared, graph.constant(of_shared), graph.constant(bias), transB=1)
    return graph.node("Gemm", change, graph.constant(weight[:, width : 2 * width]), once, transB=1)


class Targets:
    """Weighted means of all seven past targets and of their squares, [1, 7] each; absent sessions are zero."""

    def __init__(self, graph: Graph, model):
        weights = model.pooling.target_weights.numpy()
        total = graph.node("MatMul", "present", graph.constant(weights[:, None]))
        self.weight = graph.node("Max", total, graph.constant(1e-6))
        self.flat = graph.node("Flatten", graph.bounded("targets"), axis=1)
        mixing = np.zeros((PAST, 7, 7), np.float32)
        for k in range(7):
            mixing[:, k, k] = weights
        self.mixing = graph.constant(mixing.reshape(-1, 7))
        self.mean = self._mean(graph, self.flat)
        self.square = self._mean(graph, graph.node("Mul", self.flat, self.flat))

    def _mean(self, graph: Graph, flat: str) -> str:
        return graph.node("Div", graph.node("MatMul", flat, self.mixing), self.weight)


def _feedback(graph: Graph, model, own: str, targets: Targets, past: str) -> str:
    """Mirrors Network.agreement and Network.feedback line by line: [1, 6]."""
    scores = graph.constant([1] * SCORES + [0, 0])
    labels = graph.constant([0] * SCORES + [1, 1])
    outcomes = graph.constant(np.arange(1, 1 + OUTCOMES), np.int64)
    mean = graph.node("Gather", targets.mean, outcomes, axis=1)
    square = graph.node("Gather", targets.square, outcomes, axis=1)
    view = graph.node("Tanh", graph.node("Mul", own, graph.constant(0.5)))
    views = graph.node("Mul", view, graph.constant([2] * SCORES + [1, 1]))
    difference = graph.node("Sub", mean, views)
    # surprise = mean over scores of square − 2·mean·view + view²
    product = graph.node("Mul", views, graph.node("Add", mean, difference))
    apart = graph.node("Mul", graph.node("Sub", square, product), scores)
    average = graph.constant(np.full((OUTCOMES, 1), 1 / SCORES))
    gate = _open(graph, graph.node("MatMul", apart, average), float(model.score_gate))

    width = model.pooling.mask_of.shape[0]
    sessions = graph.layers(graph.node("Reshape", past, graph.constant([-1, width], np.int64)), model.base)
    said = graph.node("Tanh", graph.node("Mul", sessions, graph.constant(SHARPNESS)))
    sent = graph.node("Reshape", targets.flat, graph.constant([PAST, 7], np.int64))
    agreed = graph.node("Mul", said, graph.node("Gather", sent, outcomes, axis=1))
    weights = graph.constant(model.pooling.target_weights.numpy()[None, :])
    agreement = graph.node("Div", graph.node("MatMul", weights, agreed), targets.weight)
    disagreement = graph.node("Sub", graph.constant(1.0), agreement)
    opened = _open(graph, graph.node("Mul", disagreement, disagreement), float(model.label_gate.detach()))

    none = np.zeros(SCORES, np.float32)
    gain = graph.constant(np.concatenate([none, model.label_gain.detach().numpy()]))
    leak = graph.constant(np.concatenate([model.score_leak.detach().clamp(0, LEAK_MAX).numpy(), [0, 0]]))
    mixing = np.zeros((OUTCOMES, OUTCOMES), np.float32)
    mixing[:SCORES, :SCORES] = model.score_gain.detach().numpy()
    mixing[SCORES:, SCORES:] = np.diag(model.label_gain_open.detach().numpy())
    gated = graph.node("Mul", graph.node("MatMul", difference, graph.constant(mixing)), gate)
    by_label = graph.node("Mul", graph.node("Mul", opened, gain), labels)
    return graph.node("Add", gated, graph.node("Mul", difference, graph.node("Add", by_label, leak)))


def _open(graph: Graph, value: str, half: float) -> str:
    """value² / (value² + half²)."""
    square = graph.node("Mul", value, value)
    return graph.node("Div", square, graph.node("Add", square, graph.constant(half * half + 1e-6)))


def export_explain(model, table: torch.Tensor, path: Path) -> None:
    width = model.pooling.mask_of.shape[0]
    inputs = {
        "session": [MIXTURES, width],
        "past": [1, PAST, width],
        "targets": [1, PAST, 7],
        "present": [1, PAST],
        "missing": [1, 1],
    }
    explain_graph(model, table).save(path, inputs, {"scores": [MIXTURES, 7], "reach": [1, 10]})
    check_agreement(model, table, path)


@torch.no_grad()
def check_agreement(model, table: torch.Tensor, path: Path) -> None:
    """Random requests of 0 to 5 sessions."""
    generator = torch.Generator().manual_seed(0)
    for sessions in range(PAST + 1):
        rows, past = (random_rows(model.pooling, generator, *shape) for shape in ((MIXTURES,), (1, PAST)))
        present = (torch.arange(PAST)[None, :] < sessions).float()
        past = past * present[..., None]
        targets = (torch.rand(1, PAST, 7, generator=generator) * 4 - 2) * present[..., None]
        many = [x.expand(MIXTURES, *x.shape[1:]) for x in (past, targets, present)]
        logits = model.with_history(rows, *many) if sessions > 0 else model.without_history(rows)
        missing = torch.randint(0, 17, (1, 1), generator=generator).float()
        inputs = {"session": rows, "past": past, "targets": targets, "present": present, "missing": missing}
        prove(path, inputs, scores_of(logits), table[sessions, int(missing)][None])


def main(work: Path) -> None:
    """Of the network in `work`, with the cohort's layout and the table of ranges that `ranges.ts` made."""
    torch.set_num_threads(1)
    model = Network(Layout.of(json.loads((work / "cohort/cohort.json").read_text())["features"]))
    model.load_state_dict(torch.load(work / "state.pt", weights_only=True))
    export_explain(model.eval(), torch.tensor(json.loads((work / "reach.json").read_text())), work / "explain.onnx")
    (work / "pooling.json").write_text(json.dumps({"pooling": model.pooling.weights.tolist()}) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
