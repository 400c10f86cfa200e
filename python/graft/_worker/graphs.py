"""Graphs in a worker: from the text of a module to a model that can be called.

Nothing here decides anything: the host has parsed, matched and rewritten the text, and turned it to the device, before.
"""

from __future__ import annotations

import importlib.util
import inspect
import linecache
import os
import random
import sys
import types

import torch

from graft import kernels

LOAD_SEED = 123  # of every generator while a graph is loaded
CALL_SEED = 1024  # of torch before every call of a graph


class LoadError(Exception):
    """The text of a graph or a pass does not keep its contract."""


def seed_everything(seed: int) -> None:
    random.seed(seed)
    torch.manual_seed(seed)
    try:
        import numpy
    except ImportError:
        return
    numpy.random.seed(seed)


def seed_call() -> None:
    """What every call of a graph starts from."""
    torch.manual_seed(CALL_SEED)


def build_model(source: str, file: str, device: str, names: dict) -> torch.nn.Module:
    """Executes the text of a module as `model` and returns its GraphModule on the device. `names` are put into the module first."""
    module = types.ModuleType("model")
    module.__file__ = file
    module.__dict__.update(names)
    sys.modules["model"] = module
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), module.__dict__)
    graph_class = module.__dict__.get("GraphModule")
    if not (isinstance(graph_class, type) and issubclass(graph_class, torch.nn.Module)):
        raise LoadError("the text has no class GraphModule below torch.nn.Module")
    return graph_class().to(device)


def call_plan(model: torch.nn.Module, names: list[str]) -> tuple[list[str], list[str]]:
    """Which inputs go by position and which by keyword.

    The positional parameters of forward() are looked up by name; a forward() without any gets all inputs by keyword.
    """
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(model.forward).parameters.values()
    positional = [parameter.name for parameter in parameters if parameter.kind in kinds]
    if not positional:
        return [], list(names)
    for parameter in parameters:
        if parameter.kind in kinds and parameter.name not in names:
            raise LoadError(f"parameter '{parameter.name}' of forward() has no tensor in weight_meta.py")
    return positional, []


def load_pass(name: str, path: str):
    """Executes a pass file and returns its replacement function, which must be the same object each time it is asked for."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise LoadError(f"{path} cannot be loaded as Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(name, module)
    spec.loader.exec_module(module)
    maker = getattr(module, "replacement_func", None)
    if not callable(maker):
        raise LoadError(f"{os.path.basename(path)} has no function replacement_func()")
    function = maker()
    if maker() is not function:
        raise LoadError(
            f"replacement_func() of {os.path.basename(path)} returns another object each time; return a module-level function"
        )
    if not callable(function):
        raise LoadError(f"replacement_func() of {os.path.basename(path)} returns no function")
    return function


def load_passes(passes: list[dict], folders: list[str]) -> dict:
    """The replacement functions of `passes` by their name in the rewritten text: [{"symbol", "name", "path"}].

    `folders` come to the front of the path for imports: parents of pass folders, so that `from pass_dir.helper import f` works.
    """
    for folder in reversed(folders):
        sys.path.insert(0, folder)
    loaded: dict[str, object] = {}
    names = {}
    for entry in passes:
        if entry["path"] not in loaded:
            loaded[entry["path"]] = load_pass(entry["name"], entry["path"])
        names[entry["symbol"]] = loaded[entry["path"]]
    kernels.compile_all()
    return names
