"""What Dynamo makes of a model on the installed torch, as JSON.

capture(model, inputs) runs the model once under torch.compile with a backend that only records. The document holds every
captured graph (one, unless the graph broke): nodes with kind, target and arguments, and what Dynamo knows of each value.
Written to a file, it is what `graft graph match --mode passbench --captured FILE` matches on.
"""

from __future__ import annotations

import math
import sys
from typing import Any

SCHEMA = "graft/capture/v1"


def target_name(node) -> str:
    """The name Graft gives the target: methods and attributes as they are, functions by where torch says they live."""
    import torch
    from torch.fx.node import _get_qualified_name

    target = node.target
    if isinstance(target, str):
        return target
    if isinstance(target, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        return f"torch.ops.{str(target)}"
    module, name = getattr(target, "__module__", None), getattr(target, "__name__", None)
    if name is not None:
        for candidate in (f"{module}.{name}", f"torch.{name}"):
            if _lookup(candidate) is target:
                return candidate
    try:
        return _get_qualified_name(target)
    except RuntimeError:
        return f"{module}.{name}"


def _lookup(dotted: str) -> Any:
    root, *rest = dotted.split(".")
    value = sys.modules.get(root)
    for part in rest:
        value = getattr(value, part, None)
    return value


def encode(value: Any) -> Any:
    import torch
    import torch.fx

    if isinstance(value, torch.fx.Node):
        return {"node": value.name}
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else {"int": str(value)}
    if isinstance(value, float):
        return {"float": repr(value)}
    if isinstance(value, complex):
        return {"complex": repr(value)}
    if value is Ellipsis:
        return {"ellipsis": True}
    if isinstance(value, slice):
        return {"slice": [encode(value.start), encode(value.stop), encode(value.step)]}
    if isinstance(value, torch.Size) or isinstance(value, tuple):
        return {"tuple": [encode(item) for item in value]}
    if isinstance(value, list):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        return {"dict": [[encode(key), encode(item)] for key, item in value.items()]}
    if isinstance(value, torch.dtype):
        return {"dtype": str(value)}
    if isinstance(value, torch.device):
        return {"device": str(value)}
    if isinstance(value, torch.layout):
        return {"layout": str(value)}
    if isinstance(value, torch.memory_format):
        return {"memory_format": str(value)}
    if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return {"symbol": str(value)}
    return {"unknown": type(value).__name__}


def describe(node) -> Any:
    """Shape, strides and dtype of the fake tensor Dynamo computed, where there is one."""
    import torch

    value = node.meta.get("example_value")
    if isinstance(value, torch.Tensor):
        size = [int(n) if not isinstance(n, torch.SymInt) else -1 for n in value.shape]
        stride = [int(n) if not isinstance(n, torch.SymInt) else -1 for n in value.stride()]
        return {"kind": "tensor", "shape": size, "stride": stride, "dtype": str(value.dtype), "device": value.device.type}
    if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return {"kind": type(value).__name__.lower(), "symbol": str(value)}
    if isinstance(value, (int, float)) and math.isfinite(value):
        return {"kind": type(value).__name__, "value": value}
    return None


def graph_document(graph) -> dict:
    return {
        "nodes": [
            {
                "name": node.name,
                "op": node.op,
                "target": target_name(node),
                "args": [encode(value) for value in node.args],
                "kwargs": [[key, encode(value)] for key, value in node.kwargs.items()],
                "value": describe(node),
            }
            for node in graph.nodes
        ]
    }


def capture(model, inputs) -> dict:
    """Runs the model once. The captured graphs and, where the graph broke, the reasons."""
    import torch
    import torch._dynamo

    graphs = []

    def backend(module, _example_inputs):
        graphs.append(graph_document(module.graph))
        return module.forward

    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    with torch.no_grad():
        torch.compile(model, backend=backend)(*inputs)
    breaks = [reason for reason, count in torch._dynamo.utils.counters["graph_break"].items() for _ in range(count)]
    return {"schema": SCHEMA, "torch": torch.__version__.split("+")[0], "graphs": graphs, "breaks": breaks}
