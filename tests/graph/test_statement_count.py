"""The number of nodes of every graph of the data set, against a count by CPython's own ast."""

import ast
import json
import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))
import graph_runner

RECORDS = {name: graph_runner.records(name) for name in ("graphs.jsonl", "subgraphs.jsonl")}

pytestmark = [
    pytest.mark.skipif(graph_runner.program() is None, reason="the program graft is not built"),
    pytest.mark.skipif(RECORDS["graphs.jsonl"] is None, reason="../shared/data is absent"),
]

# Calls that make literals, not values.
LITERALS = {"slice", "device", "torch.device", "float"}


class Counter(ast.NodeVisitor):
    """Counts what computes in one forward: calls, operators, subscripts, attributes of values, writes."""

    def __init__(self, function):
        self.count = 0
        self.locals = {a.arg for a in function.args.args} - {"self"}
        for statement in function.body:
            self.visit(statement)

    def constant(self, node):
        return not any(isinstance(n, (ast.Name, ast.Call)) for n in ast.walk(node))

    def visit_Assign(self, node):
        self.visit(node.value)
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.locals.add(target.id)
            else:
                self.visit(target)

    def visit_AugAssign(self, node):
        self.count += 1
        self.visit(node.value)

    def visit_BinOp(self, node):
        self.count += not self.constant(node)
        self.generic_visit(node)

    def visit_UnaryOp(self, node):
        self.count += (
            not self.constant(node)
            and not isinstance(node.operand, ast.Name)
            or (isinstance(node.operand, ast.Name) and node.operand.id in self.locals)
        )
        self.generic_visit(node)

    def visit_Compare(self, node):
        self.count += len(node.ops)
        self.generic_visit(node)

    def visit_Subscript(self, node):
        self.count += 1
        self.generic_visit(node)

    def visit_Call(self, node):
        self.count += ast.unparse(node.func) not in LITERALS
        for child in [*node.args, *(k.value for k in node.keywords)]:
            self.visit(child)
        if isinstance(node.func, ast.Attribute):
            self.visit(node.func.value)  # the method's name is part of the call

    def visit_Attribute(self, node):
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        of_a_value = not isinstance(root, ast.Name) or root.id in self.locals
        self.count += of_a_value
        self.generic_visit(node)


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_every_statement_is_in_the_graph(name, tmp_path):
    data = graph_runner.SHARED / "data" / name
    shown = json.loads(graph_runner.graft("--json", "graph", "show", data).stdout)["graphs"]
    assert len(shown) == len(RECORDS[name])
    for record, graph in zip(RECORDS[name], shown):
        tree = ast.parse(record["model.py"])
        forward = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == "forward")
        computing = [n for n in graph["nodes"] if n["op"] not in ("placeholder", "output")]
        assert len(computing) == Counter(forward).count, record["name"]
        assert graph["inputs"] == [a.arg for a in forward.args.args if a.arg != "self"]
