"""Captured graphs: stored, read back, and matched as torch's own matcher matches them."""

import importlib.util
import inspect
import json
import os
import random
import re
import sys
import warnings

import pytest

sys.path.insert(0, os.path.dirname(__file__))
import graph_runner

torch = pytest.importorskip("torch")

SUBGRAPHS = graph_runner.records("subgraphs.jsonl")
GRAPHS = graph_runner.records("graphs.jsonl")
GOLDEN = graph_runner.SHARED / "golden" / "fx" / "matches.json"
LONG = bool(os.environ.get("GRAFT_LONG_TESTS"))
CHOSEN = [*(SUBGRAPHS or []), *(GRAPHS or [])] if LONG else (SUBGRAPHS or [])[5:60:18]

pytestmark = [
    pytest.mark.skipif(graph_runner.program() is None, reason="the program graft is not built"),
    pytest.mark.skipif(SUBGRAPHS is None or not GOLDEN.is_file(), reason="../shared is absent"),
]


def capture_module():
    path = graph_runner.ROOT / "python" / "graft" / "capture.py"
    spec = importlib.util.spec_from_file_location("graft_capture", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def force_args_trace(function):
    """The reference's way to trace a pattern: where a function has a Python signature, arguments become positional."""
    import torch.fx as fx

    class Tracer(fx.Tracer):
        def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
            if kind == "call_function":
                try:
                    bound = inspect.signature(target).bind(*args, **kwargs)
                    bound.apply_defaults()
                    args, kwargs = bound.args, {}
                except (ValueError, TypeError):
                    pass
            return super().create_node(kind, target, args, kwargs, name, type_expr)

    return Tracer().trace(function)


def cut_pattern(graph, random):
    """A pattern cut out of a captured graph: its text and the globals it needs, or None where the draw is no pattern."""
    import torch.fx as fx

    nodes = [n for n in graph.nodes if n.op in ("call_function", "call_method") and n.users]
    if not nodes:
        return None
    chosen = [random.choice(nodes)]
    for node in chosen:
        for value in node.all_input_nodes:
            inside = all(user in chosen for user in value.users)
            if value.op in ("call_function", "call_method") and inside and len(chosen) < 4 and value not in chosen:
                chosen.append(value)
    order = {node: number for number, node in enumerate(graph.nodes)}
    chosen.sort(key=order.get)
    made, pattern = {}, fx.Graph()
    for node in chosen:
        for value in node.all_input_nodes:
            if value not in made and value not in chosen:
                made[value] = pattern.placeholder("p_" + value.name)
    if not made:
        return None
    for node in chosen:
        made[node] = pattern.node_copy(node, made.get)
    pattern.output(made[chosen[-1]])
    if any(not node.users for node in pattern.nodes if node.op != "output"):
        return None
    code = pattern.python_code("self")
    text = re.sub(r"def forward\(self, ?", "def pattern(", code.src)
    return text, dict(code.globals)


@pytest.mark.parametrize("record", CHOSEN, ids=[r["name"] for r in CHOSEN])
def test_capture(record, tmp_path):
    import torch._dynamo
    from torch.fx.passes.utils.matcher_utils import SubgraphMatcher

    model = graph_runner.load_module_file(record["model.py"], tmp_path)
    inputs = graph_runner.make_inputs(record["weight_meta.py"], model)
    captured = []
    capture = capture_module()
    original = capture.graph_document
    capture.graph_document = lambda graph: captured.append(graph) or original(graph)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            document = capture.capture(model, inputs)
        except ValueError:
            pytest.skip("the installed torch refuses an argument of this graph")
        except torch._dynamo.exc.TorchDynamoException as error:
            pytest.skip(f"Dynamo does not take this graph: {str(error).splitlines()[0]}")
    path = tmp_path / "captured.json"
    path.write_text(json.dumps(document))

    patterns = {name: (text, {"torch": torch}) for name, text in json.loads(GOLDEN.read_text())["patterns"].items()}
    draw = random.Random(record["name"])
    for index in range(3):
        if captured and (generated := cut_pattern(captured[0], draw)) is not None:
            patterns[f"generated_{index}"] = generated
    arguments, expected = [], []
    for name, (text, namespace) in patterns.items():
        file = tmp_path / f"{name}.py"
        file.write_text("import torch\n" + text + "\n")
        arguments += ["--pattern", file]
        exec(text, namespace)
        pattern = force_args_trace(namespace["pattern"])
        for graph in captured:
            numbers = {node: number for number, node in enumerate(graph.nodes)}
            try:
                found = SubgraphMatcher(pattern).match(graph)
            except KeyError:
                found = []  # an anchor without a candidate
            expected.append([sorted(numbers[g] for p, g in match.nodes_map.items() if p.op != "placeholder") for match in found])
    done = graph_runner.graft(
        "--json", "graph", "match", "--mode", "passbench", "--captured", path, *arguments, tmp_path / "model.py", check=False
    )
    assert done.returncode in (0, 1), done.stderr
    results = json.loads(done.stdout)["results"]
    assert isinstance(json.loads(done.stdout)["differences"], list)
    by_pattern = [results[g * len(patterns) + p]["matches"] for p in range(len(patterns)) for g in range(len(captured))]
    assert by_pattern == expected
