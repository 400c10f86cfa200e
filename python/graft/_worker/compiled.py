"""Models that are called through torch.compile."""

from __future__ import annotations

import torch


class CompiledGraphError(Exception):
    """torch.compile did not hand over the graph that was rewritten."""


def wrap(model: torch.nn.Module, through: dict):
    """The model behind torch.compile, which compiles at the first call.

    {"backend": "inductor", "fullgraph", "dynamic", "mode", "options"}: those of torch.compile, each may be absent.
    """
    torch._dynamo.reset()
    options = {key: through[key] for key in ("fullgraph", "dynamic", "mode", "options") if through.get(key) is not None}
    return torch.compile(model, backend=through["backend"], **options)
