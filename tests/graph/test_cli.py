"""The commands of the group graph, and pass check: exit codes, JSON keys, both kinds of output."""

import json
import os
import re
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))
import graph_runner

pytestmark = pytest.mark.skipif(graph_runner.program() is None, reason="the program graft is not built")

MODEL = """import torch
class GraphModule(torch.nn.Module):
    def forward(self, x, w):
        y = torch.nn.functional.softmax(x, dim=-1);  x = None
        z = y @ w;  y = w = None
        return (z,)
"""
PASS = """import torch
def pattern(a, b):
    return torch.nn.functional.softmax(a, -1) @ b
def replacement_args(a, b):
    return (a, b)
def run(a, b):
    out = torch.empty_like(a)
    return out
def replacement_func():
    return run
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "model.py").write_text(MODEL)
    passes = tmp_path / "pass_dir"
    passes.mkdir()
    (passes / "fused.py").write_text(PASS)
    (passes / "sorted_output_pass_rule_names.json").write_text('["fused"]')
    return tmp_path


def run(*arguments):
    done = graph_runner.graft(*arguments, check=False)
    return done.returncode, done.stdout, done.stderr


def test_show(folder):
    code, out, _ = run("graph", "show", "--json", folder / "model.py")
    document = json.loads(out)
    assert code == 0
    assert next(iter(document)) == "schema"
    assert {"name", "nodes", "inputs", "outputs", "hash"} <= document.keys()
    assert document["inputs"] == ["x", "w"]
    assert document["outputs"] == [{"node": 3}]
    node = document["nodes"][2]
    assert {"number", "name", "op", "target", "args", "kwargs", "users", "line"} <= node.keys()
    assert (node["number"], node["target"], node["line"], node["users"]) == (2, "torch.nn.functional.softmax", 4, [3])
    assert node["kwargs"] == {"dim": -1}
    assert json.loads(run("graph", "show", "--format", "json", folder / "model.py")[1]) == document

    code, printed, _ = run("graph", "show", "--format", "python", folder)
    assert code == 0
    (folder / "printed.py").write_text(printed)
    assert run("graph", "show", "--format", "python", folder / "printed.py")[1] == printed
    assert json.loads(run("graph", "show", "--json", folder / "printed.py")[1])["hash"] == document["hash"]
    assert run("graph", "show", folder / "model.py")[1].count("\n") == 5
    assert run("graph", "show", "--format", "dot", folder / "model.py")[1].startswith("digraph")


def test_hash_does_not_depend_on_names(folder):
    renamed = MODEL
    for old, new in (("x", "input_0"), ("w", "weight"), ("y", "first"), ("z", "second")):
        renamed = re.sub(rf"\b{old}\b", new, renamed)
    (folder / "renamed.py").write_text(renamed)
    (folder / "other.py").write_text(MODEL.replace("dim=-1", "dim=-2"))
    hashes = [
        json.loads(run("graph", "show", "--json", folder / f"{name}.py")[1])["hash"] for name in ("model", "renamed", "other")
    ]
    assert hashes[0] == hashes[1] != hashes[2]


def test_stats(folder):
    (folder / "broken").mkdir()
    (folder / "broken" / "model.py").write_text(MODEL.replace("y @ w", "unknown(y)"))
    code, out, _ = run("--json", "graph", "stats", folder)
    document = json.loads(out)
    assert code == 1
    assert {"graphs", "bytes", "nodes", "seconds", "errors", "ops"} <= document.keys()
    assert (document["graphs"], document["nodes"]) == (1, 5)
    assert document["ops"] == {"_operator.matmul": 1, "torch.nn.functional.softmax": 1}
    (error,) = document["errors"]
    assert (error["line"], error["column"]) == (5, 13)
    assert "unknown" in error["message"] and error["graph"].endswith("broken/model.py")
    assert run("graph", "stats", folder / "model.py")[0] == 0


@pytest.mark.parametrize("mode", ["plain", "passbench", "normalized"])
def test_match(folder, mode):
    code, out, _ = run(
        "--json", "graph", "match", "--mode", mode, "--pattern", folder / "pass_dir" / "fused.py", folder / "model.py"
    )
    document = json.loads(out)
    assert {"results", "seconds"} <= document.keys()
    (result,) = document["results"]
    assert {"graph", "pattern", "matches", "nearest_miss"} <= result.keys()
    if mode == "passbench":
        # The reference's pattern is positional, the graph is not: no match, and the report says which argument it is.
        assert (code, result["matches"]) == (1, [])
        assert "dim" in result["nearest_miss"]["reason"] or "argument" in result["nearest_miss"]["reason"]
    else:
        assert (code, result["matches"], result["nearest_miss"]) == (0, [[2, 3]], None)


def test_nearest_miss_names_both_lines(folder):
    (folder / "near.py").write_text(PASS.replace("(a, -1)", "(a, 1)"))
    code, out, _ = run("--json", "graph", "match", "--pattern", folder / "near.py", folder / "model.py")
    assert code == 1
    difference = json.loads(out)["results"][0]["nearest_miss"]["differences"][0]
    assert (difference["kind"], difference["parameter"]) == ("argument", "dim")
    assert (difference["expected"], difference["actual"]) == ("1", "-1")
    assert (difference["pattern"]["line"], difference["graph"]["line"]) == (3, 4)
    assert "near.py:3" in run("graph", "match", "--pattern", folder / "near.py", folder / "model.py")[1]


def test_rewrite(folder):
    code, out, err = run("graph", "rewrite", "--passes", folder / "pass_dir", folder / "model.py")
    assert code == 0
    assert "graft_replacement_0(x, w)" in out and "softmax" not in out
    assert "fused: 1 replaced" in err
    target = folder / "out.py"
    code, out, _ = run("--json", "graph", "rewrite", "--passes", folder / "pass_dir", folder / "model.py", "-o", target)
    assert code == 0 and json.loads(out)["matches"] == 1 and "graft_replacement_0" in target.read_text()
    (folder / "model.py").write_text(MODEL.replace("dim=-1", "dim=0"))
    code, out, _ = run("--json", "graph", "rewrite", "--passes", folder / "pass_dir", folder / "model.py")
    assert code == 1
    assert "dim" in json.loads(out)["passes"][0]["why_not"]


def test_pass_check(folder):
    rule = folder / "pass_dir" / "fused.py"
    code, out, _ = run("--json", "pass", "check", rule)
    assert code == 0 and json.loads(out)["ok"] and json.loads(out)["files"][0]["outputs"] == 1
    rule.write_text(PASS.replace("out = torch.empty_like(a)", "out = torch.matmul(a, b)"))
    code, out, _ = run("--json", "pass", "check", rule)
    (violation,) = json.loads(out)["files"][0]["violations"]
    assert code == 1 and violation["line"] == 7 and "torch.matmul" in violation["message"]
    rule.write_text(PASS.replace("def replacement_args", "def other"))
    code, _, err = run("pass", "check", rule)
    assert code == 2 and "replacement_args" in err
    rule.write_text("def pattern(:\n")
    code, _, err = run("pass", "check", rule)
    assert code == 2 and "fused.py:1:12" in err


def test_wrong_requests(folder):
    assert run("graph", "show", folder / "absent.py")[0] == 2
    assert run("graph", "show", folder / "pass_dir" / "fused.py")[0] == 2
    code, _, err = run("graph", "match", "--pattern", folder / "model.py", folder / "model.py")
    assert code == 2 and "pattern" in err
    assert run("graph", "rewrite", "--passes", folder / "absent", folder / "model.py")[0] == 2
