"""What Dynamo makes of a graph, recorded in the reference worker without a trace in what the worker runs afterwards."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import random

import torch

from graft import capture
from graft._worker import graphs, tensors


@contextlib.contextmanager
def _state_kept(device: str):
    """Random generators, gradient mode and autocast are afterwards what they were, also where a graph fails halfway."""
    try:
        import numpy
    except ImportError:
        numpy = None
    python_random = random.getstate()
    numpy_random = numpy.random.get_state() if numpy else None
    grad = torch.is_grad_enabled()
    autocast = {kind: torch.is_autocast_enabled(kind) for kind in {"cpu", device}}
    dtypes = {kind: torch.get_autocast_dtype(kind) for kind in autocast}
    cached = torch.is_autocast_cache_enabled()
    with torch.random.fork_rng(devices=[torch.cuda.current_device()] if device == "cuda" else []):
        try:
            yield
        finally:
            random.setstate(python_random)
            if numpy:
                numpy.random.set_state(numpy_random)
            torch.set_grad_enabled(grad)
            for kind, enabled in autocast.items():
                torch.set_autocast_enabled(kind, enabled)
                torch.set_autocast_dtype(kind, dtypes[kind])
            torch.set_autocast_cache_enabled(cached)
            torch.clear_autocast_cache()


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def capture_graph(parameters: dict, descriptors: list[int], device: str) -> dict:
    """Writes the document of graft.capture to a descriptor: {"source", "file", "inputs", "bytes"}, as for `load`.

    The descriptors are the inputs' buffer and the file to write; the reply is {"written": bytes, "torch": version}. The graph and
    its inputs belong to this call alone.
    """
    out = descriptors.pop()
    try:
        buffer = tensors.Buffer(descriptors.pop(), parameters["bytes"], writable=False)
        layout = parameters["inputs"]
        with _state_kept(device):
            graphs.seed_everything(graphs.LOAD_SEED)
            model = graphs.build_model(parameters["source"], parameters["file"], device, {})
            positional, keywords = graphs.call_plan(model, [entry["name"] for entry in layout])
            # Private copies, as for a call that is judged: a graph may write its inputs.
            inputs = {entry["name"]: buffer.tensor(entry).to(device, copy=True) for entry in layout}
            torch.manual_seed(graphs.CALL_SEED)
            document = capture.capture(model, [inputs[name] for name in positional], {name: inputs[name] for name in keywords})
        del model, inputs
        text = json.dumps(document, allow_nan=False).encode()
        _write_all(out, text)
        return {"written": len(text), "torch": document["torch"]}
    finally:
        os.close(out)
        gc.collect()
        if device == "cuda":
            torch.cuda.empty_cache()
