"""An ONNX graph that is put together node by node."""

from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

from cohort_data import OUTCOMES, SCORES
from network import CLAMP, COMPOSITE

OPSET = 18
IR_VERSION = 9


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

    def layers(self, x: str, module: torch.nn.Sequential) -> str:
        for layer in module:
            parts = [self.constant(part.detach().numpy()) for part in layer.parameters()]
            x = self.node("Gemm", x, *parts, transB=1) if parts else self.node("Relu", x)
        return x

    def pieces(self, x: str, widths: list[int]) -> list[str]:
        """Neighbouring columns of x, of the given widths."""
        self.count += 1
        names = [f"t{self.count}_{index}" for index in range(len(widths))]
        self.nodes.append(helper.make_node("Split", [x, self.constant(widths, np.int64)], names, axis=1))
        return names

    def bounded(self, x: str) -> str:
        """Bounds every finite number, so that no later operation overflows."""
        return self.node("Clip", x, self.constant(-CLAMP), self.constant(CLAMP))

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
        """`inputs`: their names and shapes; all of it is float32."""

        def infos(shapes: dict[str, list]) -> list[onnx.ValueInfoProto]:
            return [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]

        graph = helper.make_graph(self.nodes, path.stem, infos(inputs), infos({"scores": ["B", 7]}), self.initialisers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
        model.ir_version = IR_VERSION
        onnx.checker.check_model(model, full_check=True)
        path.write_bytes(model.SerializeToString())
