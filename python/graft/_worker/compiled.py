"""Models that are called through torch.compile."""

from __future__ import annotations

from collections.abc import Callable

import torch

from graft._worker import graphs, tensors


class CompiledGraphError(Exception):
    """torch.compile did not hand over the graph that was rewritten."""


def through_inductor(model: torch.nn.Module, options: dict):
    """The model behind torch.compile, which compiles at the first call. `options`: fullgraph, dynamic, mode, options, or none."""
    torch._dynamo.reset()
    return torch.compile(model, backend="inductor", **options)


def through_passes(model: torch.nn.Module, rewritten: torch.nn.Module, inputs: Callable[[], dict], outputs: list[int]):
    """The model behind torch.compile with a backend that puts `rewritten`, made of the same captured graph, in its place.

    `inputs` gives the tensors of the next call by the names of forward()'s parameters: by identity they tell which placeholder of
    the captured graph is which parameter. `outputs` says of each leaf of what forward() returns which output of the captured graph
    it is (-1: none of them).
    """
    positional, keywords = graphs.call_plan(rewritten, list(inputs()))
    names = [*positional, *keywords]
    graphs_seen = 0

    def backend(module, examples):
        nonlocal graphs_seen
        graphs_seen += 1
        if graphs_seen > 1:
            raise CompiledGraphError("torch.compile breaks the graph, and passes were matched on one whole graph")
        named = inputs()
        wanted = len(module.graph.find_nodes(op="output")[0].args[0])
        if any(output not in outputs for output in range(wanted)):
            raise CompiledGraphError(f"the captured graph has {wanted} outputs, and the one passes were matched on had others")
        leaves = [outputs.index(output) for output in range(wanted)]

        def checked(function):
            if leaves == list(range(len(outputs))):
                return lambda *values: tensors.flatten(function(*values))

            def call(*values):
                returned = tensors.flatten(function(*values))
                return [returned[leaf] for leaf in leaves]

            return call

        order = []
        for name in names:
            places = [place for place, example in enumerate(examples) if example is named[name]]
            order.append(places[0] if places else None)  # Dynamo drops what the graph does not use
        forward = rewritten.forward
        if order == list(range(len(examples))) and not keywords:
            return checked(forward)

        def call(*values):
            picked = [None if place is None else values[place] for place in order]
            if keywords:
                return forward(**dict(zip(names, picked)))
            return forward(*picked)

        return checked(call)

    torch._dynamo.reset()
    return torch.compile(model, backend=backend)
