"""What Dynamo makes of a model on the installed torch, as JSON.

capture(model, inputs) runs the model once under torch.compile with a backend that only records. The document (schema
"graft/capture/v2") has

  torch    the version, without the build ("2.11.0")
  graphs   every captured graph in order (one, unless the graph broke): `nodes` with name, kind, target, arguments, and `value`,
           what Dynamo knows of the node's value; a placeholder has `parameter`, the parameter of forward() whose tensor it is
           (null where it is something else), and `source`, where Dynamo found it; a function that no name leads to has
           `unnamed`: true
  breaks   where and why the graph broke: {"reason", "detail", "file", "line", "function"}
  result   what forward() returned, its tensors as {"output": [graph, index]} or {"parameter": name}

`graft graph capture` writes it; `graft graph match --mode passbench --captured FILE` and `graft bench run --mode passbench`
match on it.
"""

from __future__ import annotations

import inspect
import math
import sys
from typing import Any

SCHEMA = "graft/capture/v2"
MAX_DETAIL = 2000  # characters of what Dynamo says about one break


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


def _is_unnamed(node) -> bool:
    """True for a call of a function that the name in the document does not lead to, so that no text can call it."""
    import torch

    if node.op != "call_function" or isinstance(node.target, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        return False
    return _lookup(target_name(node)) is not node.target


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
        return {"float": repr(float(value))}
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
    nodes = []
    for node in graph.nodes:
        entry = {
            "name": node.name,
            "op": node.op,
            "target": target_name(node),
            "args": [encode(value) for value in node.args],
            "kwargs": [[key, encode(value)] for key, value in node.kwargs.items()],
            "value": describe(node),
        }
        if _is_unnamed(node):
            entry["unnamed"] = True
        nodes.append(entry)
    return {"nodes": nodes}


def _parameters(model, inputs, keywords) -> dict[str, Any]:
    """The arguments of the call by the names forward() gives them; those below *args have none."""
    named = {}
    try:
        signature = inspect.signature(model.forward)
        bound = signature.bind(*inputs, **keywords)
    except (TypeError, ValueError):
        return dict(keywords)
    for name, value in bound.arguments.items():
        kind = signature.parameters[name].kind
        if kind == inspect.Parameter.VAR_KEYWORD:
            named.update(value)
        elif kind != inspect.Parameter.VAR_POSITIONAL:
            named[name] = value
    return named


def _mark_placeholders(graph, document, examples, parameters) -> None:
    """Says of each placeholder which parameter it is. By identity: after a break a local may have a parameter's name only."""
    placeholders = [(node, entry) for node, entry in zip(graph.nodes, document["nodes"]) if node.op == "placeholder"]
    for (node, entry), example in zip(placeholders, examples):
        found = [name for name, value in parameters.items() if value is example]
        entry["parameter"] = found[0] if found else None
        source = getattr(node.meta.get("grapharg"), "source", None)
        # A property in newer versions of torch, a method in older ones.
        name = getattr(source, "name", None)
        entry["source"] = str(name() if callable(name) else name) if name is not None else None


def _result(value, runs, parameters) -> Any:
    """The value forward() returned, its tensors by where they come from."""
    import torch

    if isinstance(value, torch.Tensor):
        for number in reversed(range(len(runs))):
            for index, output in enumerate(runs[number]):
                if output is value:
                    return {"output": [number, index]}
        for name, parameter in parameters.items():
            if parameter is value:
                return {"parameter": name}
        return {"unknown": type(value).__name__}
    if isinstance(value, tuple):
        return {"tuple": [_result(item, runs, parameters) for item in value]}
    if isinstance(value, list):
        return [_result(item, runs, parameters) for item in value]
    if isinstance(value, dict):
        return {"dict": [[encode(key), _result(item, runs, parameters)] for key, item in value.items()]}
    return encode(value)


def _breaks(file: str) -> list[dict]:
    import torch._dynamo.utils as utils

    breaks, seen = [], set()

    def add(text: str, frame) -> None:
        reason, _, detail = text.strip().partition("\n")
        seen.add(reason)
        known = frame is not None
        breaks.append(
            {
                "reason": reason,
                "detail": detail[:MAX_DETAIL],
                # The document of a model is the same wherever its folder lies.
                "file": ("model.py" if frame.filename == file else frame.filename) if known else None,
                "line": frame.lineno if known else None,
                "function": frame.name if known else None,
            }
        )

    for entry in utils.graph_break_reasons:
        add(str(entry.reason), entry.user_stack[-1] if entry.user_stack else None)
    # Breaks in frames of which nothing was captured are only counted.
    for text in utils.counters["graph_break"]:
        if text.strip().partition("\n")[0] not in seen:
            add(text, None)
    return breaks


def capture(model, inputs, keywords=None) -> dict:
    """Runs the model once on its positional and keyword arguments. What it raises, and what Dynamo raises, is the caller's.

    Dynamo is reset before and after, so nothing compiled stays behind. The gradient mode is torch's own default, as where users
    compile a model. Random numbers are drawn as the model draws them.
    """
    import torch
    import torch._dynamo
    import torch._dynamo.utils

    keywords = keywords or {}
    parameters = _parameters(model, inputs, keywords)
    graphs, runs = [], []

    def backend(module, examples):
        document = graph_document(module.graph)
        _mark_placeholders(module.graph, document, examples, parameters)
        number = len(graphs)
        graphs.append(document)
        runs.append(())

        def call(*values):
            outputs = module.forward(*values)
            runs[number] = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
            return outputs

        return call

    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    try:
        with torch.enable_grad():
            returned = torch.compile(model, backend=backend)(*inputs, **keywords)
        return {
            "schema": SCHEMA,
            "torch": torch.__version__.split("+")[0],
            "graphs": graphs,
            "breaks": _breaks(inspect.getfile(type(model).forward) if inspect.isfunction(type(model).forward) else ""),
            "result": _result(returned, runs, parameters),
        }
    finally:
        torch._dynamo.reset()
