"""Writes a fitted model as two ONNX graphs and proves that ONNX Runtime gives what PyTorch gives."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper

from cohort_data import OUTCOMES, PAST, SCORES
from linear import Linear
from network import CLAMP, COMPOSITE, LEAK_MAX, SHARPNESS, LargeNetwork, scores_of

OPSET = 18
IR_VERSION = 9
AGREEMENT = 1e-4


class Graph:
    """A graph under construction: nodes in order, constants shared by content."""

    def __init__(self):
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[bytes, str] = {}
        self.initialisers: list[onnx.TensorProto] = []
        self.count = 0

    def constant(self, values, dtype=np.float32) -> str:
        array = np.ascontiguousarray(np.asarray(values, dtype))
        key = array.tobytes() + str((array.shape, array.dtype)).encode()
        if key not in self.constants:
            name = f"c{len(self.constants)}"
            self.constants[key] = name
            self.initialisers.append(numpy_helper.from_array(array, name))
        return self.constants[key]

    def node(self, kind: str, *inputs: str, output: str | None = None, **attributes) -> str:
        self.count += 1
        name = output or f"t{self.count}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def linear(self, x: str, layer: torch.nn.Linear) -> str:
        weight = layer.weight.detach().numpy()
        return self.node("Gemm", x, self.constant(weight), self.constant(layer.bias.detach().numpy()), transB=1)

    def layers(self, x: str, module: torch.nn.Module) -> str:
        if isinstance(module, torch.nn.Linear):
            return self.linear(x, module)
        for layer in module:
            x = self.linear(x, layer) if isinstance(layer, torch.nn.Linear) else self.node("Relu", x)
        return x

    def split(self, x: str, axis: int, sizes: list[int] | None = None) -> tuple[str, str]:
        """Two parts of x, of the given sizes or halves."""
        self.count += 1
        names = (f"t{self.count}a", f"t{self.count}b")
        inputs = [x] if sizes is None else [x, self.constant(sizes, np.int64)]
        options = {"num_outputs": 2} if sizes is None else {}
        self.nodes.append(helper.make_node("Split", inputs, names, axis=axis, **options))
        return names

    def bounded(self, x: str, limit: float = CLAMP) -> str:
        """Whatever finite number comes in, nothing overflows behind this."""
        return self.node("Clip", x, self.constant(-limit), self.constant(limit))

    def finish(self, logits: str) -> None:
        share = self.node("Sigmoid", logits)
        mixing = np.zeros((OUTCOMES, 7), np.float32)
        mixing[:3, 0] = [100 * weight for weight in COMPOSITE]
        for k in range(SCORES):
            mixing[k, 1 + k] = 100
        mixing[4, 5] = mixing[5, 6] = 1
        scores = self.node("MatMul", share, self.constant(mixing))
        self.node("Clip", scores, self.constant(0.0), self.constant(100.0), output="scores")

    def save(self, path: Path, inputs: dict[str, list]) -> None:
        def info(name: str, shape: list):
            return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

        graph = helper.make_graph(
            self.nodes,
            path.stem,
            [info(name, shape) for name, shape in inputs.items()],
            [info("scores", ["B", 7])],
            self.initialisers,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
        model.ir_version = IR_VERSION
        onnx.checker.check_model(model, full_check=True)
        path.write_bytes(model.SerializeToString())


def base_graph(model) -> Graph:
    graph = Graph()
    graph.finish(graph.layers(graph.bounded("session"), model.base))
    return graph


class Pooled:
    """The past as one session, in the graph: mirrors Pooling and what Network.with_history makes of it."""

    def __init__(self, graph: Graph, model, rows: str, past: str):
        pooling = model.pooling
        mask_of = pooling.mask_of.numpy()
        self.masks = np.unique(mask_of)
        width = len(mask_of)
        # Masks are picked out and spread over their groups by one-hot products: Gather along a row costs more.
        pick = np.zeros((width, len(self.masks)), np.float32)
        pick[self.masks, np.arange(len(self.masks))] = 1
        spread = (mask_of[None, :] == self.masks[:, None]).astype(np.float32)
        weighted = graph.node("Mul", past, graph.constant(pooling.weights.numpy()))
        total = graph.node("ReduceSum", weighted, graph.constant([1], np.int64), keepdims=0)
        self.known = graph.node("MatMul", total, graph.constant(pick))
        inverse = graph.node("Reciprocal", graph.node("Max", self.known, graph.constant(1e-6)))
        self.rows = graph.node("Mul", total, graph.node("MatMul", inverse, graph.constant(spread)))
        has_both = graph.node(
            "Mul", graph.node("MatMul", rows, graph.constant(pick)), graph.node("Mul", self.known, inverse)
        )
        both = graph.node("MatMul", has_both, graph.constant(spread))
        self.change = graph.node("Mul", graph.node("Sub", rows, self.rows), both)

    def widened(self, weight: np.ndarray, model) -> np.ndarray:
        """The weights of a layer whose input holds all masks' weights instead of those of a few groups."""
        width = model.pooling.mask_of.shape[0]
        chosen = model.pooling.confidence.numpy()
        known = np.zeros((weight.shape[0], len(self.masks)), np.float32)
        known[:, np.searchsorted(self.masks, chosen)] = weight[:, 2 * width : 2 * width + len(chosen)]
        return np.concatenate([weight[:, : 2 * width], known, weight[:, 2 * width + len(chosen) :]], 1)


class PastTargets:
    """Weighted means of the past targets: six outcomes, and the mean square over the scores. Absent sessions are zero."""

    def __init__(self, graph: Graph, model):
        weights = model.pooling.target_weights.numpy()
        present = graph.node("Clip", "present", graph.constant(0.0), graph.constant(1.0))
        total = graph.node("MatMul", present, graph.constant(weights[:, None]))
        self.weight = graph.node("Max", total, graph.constant(1e-6))
        self.bounded = graph.bounded("targets")
        self.flat = graph.node("Flatten", self.bounded, axis=1)
        both = graph.node("Concat", self.flat, graph.node("Mul", self.flat, self.flat), axis=1)
        mixing = np.zeros((2, PAST, 7, OUTCOMES + 1), np.float32)
        for k in range(OUTCOMES):
            mixing[0, :, 1 + k, k] = weights
        for k in range(SCORES):
            mixing[1, :, 1 + k, OUTCOMES] = weights / SCORES
        sums = graph.node("MatMul", both, graph.constant(mixing.reshape(-1, OUTCOMES + 1)))
        means = graph.node("Div", sums, self.weight)
        self.mean, self.square = graph.split(means, 1, [OUTCOMES, 1])


def history_graph(model) -> Graph:
    graph = Graph()
    rows = graph.bounded("session")
    past = graph.bounded("past")
    pooled = Pooled(graph, model, rows, past)
    targets = PastTargets(graph, model)
    if isinstance(model, Linear):
        context = graph.node("Concat", pooled.rows, pooled.change, targets.mean, targets.weight, axis=1)
        graph.finish(graph.node("Add", graph.linear(rows, model.base), graph.linear(context, model.history)))
        return graph
    context = [pooled.rows, pooled.change, pooled.known, targets.weight]
    if isinstance(model, LargeNetwork):
        flags = graph.node("Unsqueeze", "present", graph.constant([2], np.int64))
        context.append(graph.node("Flatten", graph.node("Concat", past, targets.bounded, flags, axis=2), axis=1))
    joined = graph.node("Concat", *context, axis=1)
    first = model.history[0]
    weight = graph.constant(pooled.widened(first.weight.detach().numpy(), model))
    hidden = graph.node("Gemm", joined, weight, graph.constant(first.bias.detach().numpy()), transB=1)
    hidden = graph.layers(hidden, model.history[1:])
    direct = graph.constant(pooled.widened(model.direct.weight.detach().numpy(), model))
    residual = graph.node("Gemm", joined, direct, hidden, transB=1)
    # The encoder runs once over both rows, today's and the pooled past.
    both = graph.layers(graph.node("Concat", rows, pooled.rows, axis=0), model.base)
    today, own = graph.split(both, 0)
    agreement = _agreement(graph, model, past, targets)
    graph.finish(graph.node("Sum", today, residual, _feedback(graph, model, own, targets, agreement)))
    return graph


def _feedback(graph: Graph, model, own: str, targets: PastTargets, agreement: str) -> str:
    """Mirrors Network.feedback, scores and labels side by side."""
    view = graph.node("Tanh", graph.node("Mul", own, graph.constant(0.5)))
    # Scores in units of 25 points, labels in −1..1.
    views = graph.node("Mul", view, graph.constant([2] * SCORES + [1, 1]))
    difference = graph.node("Sub", targets.mean, views)
    # surprise = mean over scores of (square − 2·mean·view + view²) = square − mean of view·(mean + difference)
    product = graph.node("Mul", views, graph.node("Add", targets.mean, difference))
    average = graph.constant([[-1 / SCORES]] * SCORES + [[0], [0]])
    surprise = graph.node("Add", targets.square, graph.node("MatMul", product, average))
    gate = _open(graph, surprise, float(model.score_gate))

    apart = graph.node("Sub", graph.constant(1.0), agreement)
    open_label = _open(graph, graph.node("Mul", apart, apart), float(model.label_gate.detach()))
    # The agreement has a column for each outcome, the scores' empty, so that all six go the same way.
    label_gain = np.concatenate([np.zeros(SCORES, np.float32), model.label_gain.detach().numpy()])
    leak = np.concatenate([model.score_leak.detach().clamp(0, LEAK_MAX).numpy(), np.zeros(2, np.float32)])
    own_gain = graph.node("Add", graph.node("Mul", open_label, graph.constant(label_gain)), graph.constant(leak))
    mixing = np.zeros((OUTCOMES, OUTCOMES), np.float32)
    mixing[:SCORES, :SCORES] = model.score_gain.detach().numpy()
    mixing[SCORES:, SCORES:] = np.diag(model.label_gain_open.detach().numpy())
    gated = graph.node("Mul", graph.node("MatMul", difference, graph.constant(mixing)), gate)
    return graph.node("Add", gated, graph.node("Mul", difference, own_gain))


def _open(graph: Graph, value: str, half: float) -> str:
    """value² / (value² + half²)."""
    square = graph.node("Mul", value, value)
    return graph.node("Div", square, graph.node("Add", square, graph.constant(half * half + 1e-6)))


def _agreement(graph: Graph, model, past: str, targets: PastTargets) -> str:
    """Mirrors Network.agreement, all past sessions as rows of one batch; [B, outcomes], zero for the scores."""
    width = model.pooling.mask_of.shape[0]
    x = graph.node("Reshape", past, graph.constant([-1, width], np.int64))
    x = graph.layers(x, model.base[:-1])
    # Columns as in a target, C_SCORE and the scores empty.
    last = model.base[-1]
    weight = np.zeros((7, last.in_features), np.float32)
    bias = np.zeros(7, np.float32)
    weight[1 + SCORES :] = SHARPNESS * last.weight.detach().numpy()[SCORES:]
    bias[1 + SCORES :] = SHARPNESS * last.bias.detach().numpy()[SCORES:]
    own = graph.node("Tanh", graph.node("Gemm", x, graph.constant(weight), graph.constant(bias), transB=1))
    own = graph.node("Reshape", own, graph.constant([-1, PAST * 7], np.int64))
    mixing = np.zeros((PAST, 7, OUTCOMES), np.float32)
    for k in range(SCORES, OUTCOMES):
        mixing[:, 1 + k, k] = model.pooling.target_weights.numpy()
    total = graph.node(
        "MatMul", graph.node("Mul", own, targets.flat), graph.constant(mixing.reshape(-1, OUTCOMES))
    )
    return graph.node("Div", total, targets.weight)


def export_graphs(model, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    width = model.base[0].in_features if not isinstance(model, Linear) else model.base.in_features
    base_graph(model).save(out / "base.onnx", {"session": ["B", width]})
    history_graph(model).save(
        out / "history.onnx",
        {
            "session": ["B", width],
            "past": ["B", PAST, width],
            "targets": ["B", PAST, 7],
            "present": ["B", PAST],
        },
    )
    check_agreement(model, out, width)


@torch.no_grad()
def check_agreement(model, out: Path, width: int) -> None:
    """Random rows through both: scores within AGREEMENT of a point, whatever is missing."""
    generator = torch.Generator().manual_seed(0)
    rows = (torch.randn(64, width, generator=generator) * 1.5).clamp(-CLAMP, CLAMP)
    past = (torch.randn(64, PAST, width, generator=generator) * 1.5).clamp(-CLAMP, CLAMP)
    masks = model.pooling.mask_of.unique()
    rows[:, masks] = (rows[:, masks] > 0).float()
    past[:, :, masks] = (past[:, :, masks] > 0).float()
    rows = rows * rows[:, model.pooling.mask_of]
    past = past * past[:, :, model.pooling.mask_of]
    length = torch.arange(64) % PAST + 1
    present = (torch.arange(PAST)[None, :] < length[:, None]).float()
    past = past * present[..., None]
    targets = (torch.rand(64, PAST, 7, generator=generator) * 4 - 2) * present[..., None]
    inputs = {"session": rows, "past": past, "targets": targets, "present": present}
    arrays = {name: tensor.numpy() for name, tensor in inputs.items()}
    expected = {
        "base.onnx": scores_of(model.without_history(rows)),
        "history.onnx": scores_of(model.with_history(rows, past, targets, present)),
    }
    for file, want in expected.items():
        session = onnxruntime.InferenceSession(str(out / file), providers=["CPUExecutionProvider"])
        names = [entry.name for entry in session.get_inputs()]
        (got,) = session.run(None, {name: arrays[name] for name in names})
        worst = float(np.abs(got - want.numpy()).max())
        print(f"{file}: {len(onnx.load(out / file).graph.node)} nodes, differs from PyTorch by {worst:.1e}")
        if not worst < AGREEMENT:
            raise SystemExit(f"{file} differs from PyTorch by {worst}")
