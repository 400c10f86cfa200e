"""Shared by the tests that run printed graphs: finding the program and the data, and making inputs for a graph."""

import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"


def program():
    """The program graft, or None where it is not built."""
    named = os.environ.get("GRAFT_PROGRAM")
    candidates = [pathlib.Path(named)] if named else []
    candidates += [ROOT / "build" / "graft", *sorted(ROOT.glob("build*/graft"))]
    for path in candidates:
        if path.is_file():
            return path
    return None


def records(name):
    """The records of a data file, or None where it is absent."""
    path = SHARED / "data" / name
    if not path.is_file():
        return None
    return [json.loads(line) for line in path.read_text().splitlines()]


def graft(*arguments, check=True, **options):
    return subprocess.run([str(program()), *map(str, arguments)], check=check, text=True, capture_output=True, **options)


def load_module(text, extra=None):
    """The class GraphModule of a module's text, on the CPU."""
    text = text.replace("type='cuda', index=0", "type='cpu'").replace('type="cuda", index=0', "type='cpu'")
    namespace = dict(extra or {})
    exec(compile(text, "model.py", "exec"), namespace)
    return namespace["GraphModule"]()


def make_inputs(weight_meta, model):
    """One tensor for each parameter of forward, from the description in weight_meta.py; the same for each call."""
    import inspect

    import torch

    namespace = {}
    exec(compile(weight_meta, "weight_meta.py", "exec"), namespace)
    metas = {value.name: value for value in namespace.values() if isinstance(value, type) and hasattr(value, "name")}
    generator = torch.Generator().manual_seed(7)
    inputs = []
    for name in inspect.signature(model.forward).parameters:
        meta = metas[name]
        dtype = getattr(torch, meta.dtype.rsplit(".", 1)[-1])
        low, high = getattr(meta, "min_val", None), getattr(meta, "max_val", None)
        data = getattr(meta, "data", None)
        shape = list(getattr(meta, "shape", []))
        if data is not None:
            tensor = torch.tensor(data, dtype=dtype).reshape(shape)
        elif dtype == torch.bool:
            tensor = torch.rand(shape, generator=generator) > 0.5
        elif not dtype.is_floating_point:
            tensor = torch.randint(int(low or 0), int(high or 0) + 1, shape, generator=generator).to(dtype)
        else:
            mean, std = meta.mean or 0.0, 0.1 if meta.std is None else meta.std
            tensor = torch.randn(shape, generator=generator, dtype=torch.float64) * std * 0.2 + mean
            tensor = tensor.to(dtype)
            if low is not None:
                tensor = tensor.clamp_min(low)
            if high is not None:
                tensor = tensor.clamp_max(high)
        inputs.append(tensor)
    return inputs


def run(model, inputs):
    """The outputs, and the inputs as the call leaves them."""
    import torch

    copies = [value.clone() if isinstance(value, torch.Tensor) else value for value in inputs]
    torch.manual_seed(1024)
    with torch.no_grad():
        outputs = model(*copies)
    return list(outputs) if isinstance(outputs, (tuple, list)) else [outputs], copies


def same_bits(a, b):
    import torch

    if isinstance(a, torch.Tensor) != isinstance(b, torch.Tensor):
        return False
    if not isinstance(a, torch.Tensor):
        return type(a) is type(b) and (a == b or a != a and b != b)
    if a.dtype != b.dtype or a.shape != b.shape or a.stride() != b.stride():
        return False
    if a.numel() == 0:
        return True
    return torch.equal(a.contiguous().view(-1).view(torch.uint8), b.contiguous().view(-1).view(torch.uint8))


def load_module_file(text, folder):
    """As load_module(), from a file: Dynamo wants to read the source."""
    import importlib.util

    text = text.replace("type='cuda', index=0", "type='cpu'").replace('type="cuda", index=0', "type='cpu'")
    path = pathlib.Path(folder) / "model.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("graft_test_model", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.GraphModule()
