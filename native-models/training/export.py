"""Writes a fitted model as two ONNX graphs and proves that ONNX Runtime gives what PyTorch gives."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper

from cohort_data import OUTCOMES, PAST, SCORES
from linear import Linear
from network import CLAMP, COMPOSITE, LEAK_MAX, LargeNetwork, scores_of

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


def history_graph(model) -> Graph:
    graph = Graph()
    pooling = model.pooling
    rows = graph.bounded("session")
    weights = pooling.weights.numpy()
    past = graph.bounded("past")
    axis = graph.constant([1], np.int64)
    total = graph.node("ReduceSum", graph.node("Mul", past, graph.constant(weights)), axis, keepdims=0)
    mask_of = graph.constant(pooling.mask_of.numpy(), np.int64)
    known = graph.node("Gather", total, mask_of, axis=1)
    pooled = graph.node("Div", total, graph.node("Max", known, graph.constant(1e-6)))
    both = graph.node("Gather", graph.node("Mul", rows, pooled), mask_of, axis=1)
    change = graph.node("Mul", graph.node("Sub", rows, pooled), both)

    present = graph.node("Clip", "present", graph.constant(0.0), graph.constant(1.0))
    weight3 = graph.node(
        "Unsqueeze",
        graph.node("Mul", present, graph.constant(pooling.target_weights.numpy())),
        graph.constant([2], np.int64),
    )
    weight = graph.node("ReduceSum", weight3, axis, keepdims=0)
    weight = graph.node("Max", weight, graph.constant(1e-6))
    bounded = graph.bounded("targets")
    weighted = graph.node("Mul", weight3, bounded)
    target = graph.node("Div", graph.node("ReduceSum", weighted, axis, keepdims=0), weight)

    if isinstance(model, Linear):
        context = [pooled, change, _columns(graph, target, 1, 7), weight]
        logits = graph.node(
            "Add", graph.linear(rows, model.base), graph.linear(graph.node("Concat", *context, axis=1), model.history)
        )
        graph.finish(logits)
        return graph

    squares = graph.node("ReduceSum", graph.node("Mul", weighted, bounded), axis, keepdims=0)
    square = graph.node("Div", squares, weight)
    confidence = graph.node("Gather", known, graph.constant(pooling.confidence.numpy(), np.int64), axis=1)
    context = [pooled, change, confidence, weight]
    if isinstance(model, LargeNetwork):
        flags = graph.node("Unsqueeze", "present", graph.constant([2], np.int64))
        context.append(
            graph.node("Flatten", graph.node("Concat", past, bounded, flags, axis=2), axis=1)
        )
    joined = graph.node("Concat", *context, axis=1)
    hidden = graph.layers(joined, model.history)
    residual = graph.node("Gemm", joined, graph.constant(model.direct.weight.detach().numpy()), hidden, transB=1)
    # The encoder runs once over both rows, today's and the pooled past.
    both_logits = graph.layers(graph.node("Concat", rows, pooled, axis=0), model.base)
    graph.nodes.append(helper.make_node("Split", [both_logits], ["today", "own"], axis=0, num_outputs=2))
    feedback = _feedback(graph, model, "own", target, square)
    graph.finish(graph.node("Add", graph.node("Add", "today", residual), feedback))
    return graph


def _columns(graph: Graph, x: str, start: int, end: int) -> str:
    ends = [graph.constant([value], np.int64) for value in (start, end, 1)]
    return graph.node("Slice", x, *ends)


def _feedback(graph: Graph, model, own: str, target: str, square: str) -> str:
    """Mirrors Network.feedback."""
    view = graph.node("Tanh", graph.node("Mul", own, graph.constant(0.5)))
    scale = graph.constant([2] * SCORES + [1, 1])
    views = graph.node("Mul", view, scale)  # scores in units of 25 points, labels in −1..1
    mean = _columns(graph, target, 1, 7)
    difference = graph.node("Sub", mean, views)
    # surprise = mean over scores of (square − 2·view·mean + view²) = square − mean² + difference²
    spread = graph.node("Sub", _columns(graph, square, 1, 7), graph.node("Mul", mean, mean))
    surprises = graph.node("Add", spread, graph.node("Mul", difference, difference))
    average = graph.constant([[1 / SCORES]] * SCORES + [[0], [0]])
    surprise = graph.node("MatMul", surprises, average)
    gate = _open(graph, surprise, float(model.score_gate))

    labels = _columns(graph, mean, 4, 6)
    leaning = graph.node("Tanh", graph.node("Mul", _columns(graph, own, 4, 6), graph.constant(2.0)))
    disagreement = graph.node(
        "Sub", graph.constant(0.5), graph.node("Mul", graph.node("Mul", labels, leaning), graph.constant(0.5))
    )
    open_label = _open(graph, disagreement, float(model.label_gate))
    gain = graph.node(
        "Add",
        graph.node("Mul", open_label, graph.constant(model.label_gain.detach().numpy())),
        graph.node("Mul", gate, graph.constant(model.label_gain_open.detach().numpy())),
    )
    score_difference = _columns(graph, difference, 0, 4)
    gained = graph.node("MatMul", score_difference, graph.constant(model.score_gain.detach().numpy()))
    leak = graph.constant(model.score_leak.detach().clamp(0, LEAK_MAX).numpy())
    scores = graph.node("Add", graph.node("Mul", gained, gate), graph.node("Mul", score_difference, leak))
    return graph.node("Concat", scores, graph.node("Mul", gain, _columns(graph, difference, 4, 6)), axis=1)


def _open(graph: Graph, value: str, half: float) -> str:
    square = graph.node("Mul", value, value)
    return graph.node("Div", square, graph.node("Add", square, graph.constant(half * half + 1e-6)))


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
