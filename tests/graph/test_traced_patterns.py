"""Patterns that need Python: traced in a child, equal to what is read where both are possible, and never able to do harm."""

import json
import math
import os
import pathlib
import sys
import time

import pytest

sys.path.insert(0, os.path.dirname(__file__))
import graph_runner

torch = pytest.importorskip("torch")
trace_pattern = pytest.importorskip("graft.trace_pattern")

pytestmark = pytest.mark.skipif(graph_runner.program() is None, reason="the program graft is not built")

GOLDEN = graph_runner.SHARED / "golden" / "fx" / "matches.json"
PASSES = sorted(graph_runner.ROOT.glob("samples/*/*pass_dir/*.py"))
TAIL = """
def replacement_args({0}):
    return ({0},)
def run(*values):
    return torch.empty_like(values[0])
def replacement_func():
    return run
"""
MODEL = """import torch
class GraphModule(torch.nn.Module):
    def forward(self, x, w):
        y = torch.nn.functional.softmax(x, dim=-1);  x = None
        z = w + y * 0.125;  y = w = None
        return (z,)
"""
# Forms whose text can be read: the trace must give the same graph.
READABLE = {
    "calls": "def pattern(x, w):\n    return F.softmax(x, dim=-1) @ w.transpose(-2, -1)",
    "defaults": "def pattern(x, w, b=None):\n    return F.layer_norm(x, (8,), w, b, 1e-06) + F.gelu(x, approximate='tanh')",
    "dropout": "def pattern(x):\n    return F.dropout(x, 0.1, False, False) * F.relu(x, inplace=True)",
    "operators": "def pattern(x, w):\n    return -(x + 1) * w / 2.0 - (3 - x) ** 2 + (x == w) + (x & w) + ~w",
    "augmented": "def pattern(x, w):\n    x += w\n    x *= 2\n    y = x - w\n    y /= 3\n    return y",
    "indexing": "def pattern(x):\n    return x[:, 0:-1:2, ..., None] + x[0, 1] + x.shape[-1] + x.T",
    "unpacking": "def pattern(x):\n    a, b, c = x.chunk(3, dim=-1)\n    return torch.cat((a, b * c), 1), a",
    "dtypes": "def pattern(x):\n    return x.to(torch.float16).to(device=torch.device('cpu'), dtype=torch.half, copy=False)",
    "constants": "def pattern(x):\n    return x.clamp(-float('inf'), max=math.pi) + 2**40 + True + torch.inf",
    "loops": "def pattern(x):\n    for k in range(3):\n        x = step(x, n=k)\n    return [torch.tanh(v) for v in (x,)][0]",
    "closure": "def pattern(x):\n    def scaled(v, k=SCALE):\n        return v * k\n    return scaled(x) + scaled(x, 2)",
    "conditions": "def pattern(x, w):\n    if SCALE > 1 and w is not None:\n        return torch.add(x, w, alpha=2)\n    return x - w",
    "keyword_only": "def pattern(x, *, w):\n    return torch.addmm(x, w, w, beta=1)",
    "einsum": "def pattern(x, w):\n    return torch.einsum('bij,bjk->bik', x, w).view(2, -1).permute((0, 1))",
    "pool": "def pattern(x):\n    return F.max_pool2d(x, 2) + F.adaptive_avg_pool2d(x, 1) + F.avg_pool2d(x, (2, 2), stride=1)",
    "attention": "def pattern(q, k, v):\n    return F.scaled_dot_product_attention(q, k, v, is_causal=True)",
    "ops": "def pattern(x):\n    return torch.ops.aten.relu(x) + torch.ops.aten.add.Tensor(x, x)",
    "hint": "def pattern(x, w):\n    return torch.relu(commutative(x + w))",
}
HEAD = """import math
import torch
import torch.nn.functional as F
from graft.pattern import commutative
SCALE = 2.0
def step(v, n=1):
    return torch.relu(v) * SCALE + n
"""


NAMES = {"torch": torch, "device": torch.device, "inf": math.inf, "nan": math.nan}
IN_PLACE = set(trace_pattern._IN_PLACE)


def plain(value):
    """A value of either document in one form; nodes are ("node", number)."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if not isinstance(value, dict):
        return (type(value).__name__, value)
    ((key, item),) = value.items()
    if key == "node":
        return ("node", item)
    if key in ("tuple", "slice", "dict"):
        return (key, plain(item))
    if key == "float":
        return ("float", float(item))
    if key == "python":
        evaluated = eval(item, NAMES)
        return (type(evaluated).__name__, str(evaluated)) if not isinstance(evaluated, float) else ("float", evaluated)
    if key == "ellipsis":
        return ("ellipsis", "Ellipsis")
    return (key, item)


def shown(path):
    """The graph that `graft` reads from the text of a pattern, as torch.fx numbers it."""
    done = graph_runner.graft("graph", "show", "--pattern", "--plain", "--no-trace", "--json", path)
    return [
        (node["op"], node["target"], plain(node["args"]), {key: plain(value) for key, value in node["kwargs"].items()})
        for node in json.loads(done.stdout)["nodes"]
    ]


def traced(path):
    """The graph that the tracer records."""
    document = trace_pattern.document(path.read_text(), str(path), ["pattern"])
    assert "error" not in document, document["error"]
    nodes = document["functions"]["pattern"]["nodes"]
    numbers = {node["name"]: number for number, node in enumerate(nodes)}

    def number(value):
        if isinstance(value, dict):
            return {"node": numbers[value["node"]]} if "node" in value else {k: number(v) for k, v in value.items()}
        return [number(item) for item in value] if isinstance(value, list) else value

    def target(name):
        operator, _, function = name.partition("_operator.i")
        in_place = not operator and f"i{function}" in IN_PLACE
        return "_operator." + {"or": "or_", "and": "and_"}.get(function, function) if in_place else name

    return [
        (
            node["op"],
            target(node["target"]).replace("torch.ops.", "torch._ops."),
            plain(number(node["args"])),
            {key: plain(number(value)) for key, value in node["kwargs"]},
        )
        for node in nodes
    ]


@pytest.fixture(autouse=True)
def untouched_modules():
    """Tracing in this process puts folders on the path and modules into the table, as its own process may."""
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if getattr(sys.modules[name], "__file__", None) and "graft" not in name and "torch" not in name:
            del sys.modules[name]


@pytest.mark.parametrize("name", READABLE)
def test_a_trace_equals_what_is_read(name, tmp_path):
    file = tmp_path / f"{name}_pattern.py"
    file.write_text(HEAD + READABLE[name] + "\n")
    assert shown(file) == traced(file)


def test_a_trace_equals_what_is_read_of_the_samples():
    assert PASSES
    for path in PASSES:
        assert shown(path) == traced(path), path


@pytest.mark.skipif(not GOLDEN.is_file(), reason="../shared is absent")
def test_a_trace_equals_what_is_read_of_the_golden_patterns(tmp_path):
    patterns = json.loads(GOLDEN.read_text())["patterns"]
    for name, text in patterns.items():
        file = tmp_path / f"{name}_golden.py"
        file.write_text("import torch\n" + text + "\n")
        assert shown(file) == traced(file), name


def write(folder, pattern, parameters="x, w", head="", name="rule"):
    passes = folder / "pass_dir"
    passes.mkdir(exist_ok=True)
    (folder / "model.py").write_text(MODEL)
    (passes / f"{name}.py").write_text("import math, os, sys, time\nimport torch\n" + head + pattern + TAIL.format(parameters))
    (passes / "sorted_output_pass_rule_names.json").write_text(json.dumps([name]))
    return passes / f"{name}.py"


def run(*arguments, seconds=None, **variables):
    environment = {**os.environ, **({} if seconds is None else {"GRAFT_TRACE_TIMEOUT": str(seconds)}), **variables}
    done = graph_runner.graft(*arguments, check=False, env=environment)
    return done.returncode, done.stdout, done.stderr


# A table, a generator, a class, a helper module, numbers of another module: none of it can be read.
REAL = """
from pass_dir.helper import factor
TABLE = {"scale": 64}
class Steps:
    def __init__(self, *names): self.names = names
    def __iter__(self):
        for name in self.names:
            yield factor(TABLE[name])
def pattern(x, w):
    y = torch.nn.functional.softmax(x, -1)
    for scale in Steps("scale"):
        y = y * scale
    return w + y
"""


def test_real_python_is_traced_and_says_so(tmp_path):
    file = write(tmp_path, REAL)
    (tmp_path / "pass_dir" / "helper.py").write_text("import math\ndef factor(n):\n    return 1 / math.sqrt(n)\n")
    code, out, err = run("--json", "graph", "match", "--pattern", file, tmp_path / "model.py")
    (result,) = json.loads(out)["results"]
    assert (code, result["matches"], result["traced"]) == (0, [[2, 3, 4]], True)
    assert f"{file}:13:18: 'Steps' of this file cannot be used" in result["traced_because"]
    assert "traced by torch.fx" in err
    twin = write(tmp_path, "\ndef pattern(x, w):\n    return w + torch.nn.functional.softmax(x, -1) * 0.125\n", name="twin")
    read, shown = (json.loads(run("--json", "graph", "show", "--plain", "--pattern", f)[1]) for f in (twin, file))
    assert read["hash"] == shown["hash"]
    lines = {node["name"]: node["line"] for node in shown["nodes"]}
    text = file.read_text().splitlines()
    assert "softmax(x" in text[lines["softmax"] - 1] and "y * scale" in text[lines["mul"] - 1]
    assert "w + y" in text[lines["add"] - 1] and "def pattern" in text[lines["x"] - 1]


def test_arguments_may_need_python_too(tmp_path):
    file = write(tmp_path, "\ndef pattern(x, w):\n    return w + torch.nn.functional.softmax(x, -1) * 0.125\n")
    file.write_text(file.read_text().replace("return (x, w,)", "return (x, w, dict(a=math.sqrt(64))['a'], math.tau > 6)"))
    code, out, err = run("--json", "graph", "rewrite", "--passes", file.parent, tmp_path / "model.py")
    document = json.loads(out)
    assert (code, document["passes"][0]["traced"]) == (0, True), err
    assert "graft_replacement_0(x, w, 8.0, True)" in document["source"]
    code, out, _ = run("--json", "pass", "check", file)
    (checked,) = json.loads(out)["files"]
    assert (code, checked["traced"], checked["parameters"]) == (0, True, 2)


def test_hints_are_seen_in_a_trace(tmp_path):
    body = "\nfrom graft.pattern import commutative\ndef pattern(x, w):\n    n = dict(a=0.125)['a']\n"
    call = "torch.nn.functional.softmax(x, -1) * n"
    file = write(tmp_path, body + f"    return commutative({call} + w)\n")
    assert run("graph", "match", "--pattern", file, tmp_path / "model.py")[0] == 0
    file = write(tmp_path, body + f"    return commutative({call} - w)\n")
    code, _, err = run("graph", "match", "--pattern", file, tmp_path / "model.py")
    assert code == 2 and "'_operator.sub' is not commutative" in err and f"{file}:6:" in err


def test_a_file_with_hints_is_an_ordinary_pass_for_torch():
    from graft.pattern import commutative

    graph = torch.fx.symbolic_trace(lambda x, w: torch.relu(commutative(x + w))).graph
    assert [str(node.target) for node in graph.nodes][2:] == ["<built-in function add>", str(torch.relu), "output"]
    assert commutative(3) == 3


BAD = {
    "control": ("    if x > 0:\n        return x + dict()\n    return w", 5, "TraceError: symbolically traced variables"),
    "raises": ("    n = dict(a=1)\n    return x + n['b']", 6, "KeyError: 'b'"),
    "exit": ("    sys.exit(3)\n    return x + w", 5, "SystemExit: 3"),
    "hard_exit": ("    os._exit(0)\n    return x + w", 4, "ended (exit code 0) before it answered"),
    "killed": ("    os.kill(os.getpid(), 11)\n    return x + w", 4, "signal 11"),
    "memory": ("    y = bytearray(1 << 36)\n    return x + w", 5, "MemoryError"),
    "tensor": ("    return x * torch.tensor(dict(a=2.0)['a']) + w", 5, "made a tensor while it was traced"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_pattern_that_fails_is_an_error_with_its_place(name, tmp_path):
    body, line, words = BAD[name]
    file = write(tmp_path, f"\ndef pattern(x, w):\n{body}\n")
    code, out, err = run("graph", "match", "--pattern", file, tmp_path / "model.py")
    assert (code, out) == (2, ""), err
    assert words in err and f"{file}:{line}" in err, err


def test_a_pattern_that_never_ends_is_stopped_with_all_it_started(tmp_path):
    mark = tmp_path / "pids"
    body = f"    child = os.fork()\n    open({str(mark)!r}, 'a').write(f'{{os.getpid()}} ')\n    while True: time.sleep(0.01)\n"
    file = write(tmp_path, f"\ndef pattern(x, w):\n{body}")
    started = time.monotonic()
    code, _, err = run("graph", "match", "--pattern", file, tmp_path / "model.py", seconds=6)
    assert (code, time.monotonic() - started < 12) == (2, True)
    assert "tracing 'pattern' was not done after 6 s" in err and f"{file}:4" in err
    pids = mark.read_text().split()
    assert len(pids) == 2
    deadline = time.monotonic() + 5
    while any(alive(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(alive(pid) for pid in pids)


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def test_what_a_pattern_prints_forks_and_sees(tmp_path):
    body = """
print("at load")
def pattern(x, w):
    print("{" * 300000)
    print("words", file=sys.stderr)
    try:
        os.write(3, b"{}")
    except OSError:
        pass
    if os.fork() == 0:
        w = w * 2  # the copy's graph is another, and nobody's
    assert os.listdir(".") == [] and sys.stdin.read() == ""
    assert "A_SECRET" not in os.environ
    return w + torch.nn.functional.softmax(x, -1) * 0.125
"""
    file = write(tmp_path, body)
    code, out, err = run("--json", "graph", "match", "--pattern", file, tmp_path / "model.py", A_SECRET="1")
    assert code == 0, err
    assert json.loads(out)["results"][0]["matches"] == [[2, 3, 4]]
    assert sorted(path.name for path in file.parent.iterdir()) == ["rule.py", "sorted_output_pass_rule_names.json"]


MARKED = "\nopen({0!r}, 'w').close()\ndef pattern(x, w):\n    open({0!r}, 'w').close()\n    return x + w + dict(a=1)['a']\n"


def test_a_file_that_breaks_a_rule_or_must_not_be_traced_is_never_run(tmp_path):
    mark = tmp_path / "ran"
    forbidden = write(tmp_path, MARKED.format(str(mark)), head="import gc\n", name="forbidden")
    code, out, _ = run("pass", "check", forbidden)
    assert code == 1 and "blocked-import" in out and "it is not traced, because the file breaks a rule" in out
    helper = write(tmp_path, MARKED.format(str(mark)), head="from pass_dir.other import y\n", name="helped")
    (tmp_path / "pass_dir" / "other.py").write_text("y = __import__('torch').relu\n")
    allowed = write(tmp_path, MARKED.format(str(mark)), name="allowed")
    for file, options in ((forbidden, []), (helper, []), (allowed, ["--no-trace"])):
        (file.parent / "sorted_output_pass_rule_names.json").write_text(json.dumps([file.stem]))
        for command in (
            ["graph", "match", "--pattern", file, tmp_path / "model.py"],
            ["graph", "rewrite", "--passes", file.parent, tmp_path / "model.py"],
            ["graph", "show", "--pattern", file],
        ):
            code, _, err = run(*command, *options)
            assert code == 2 and f"{file}:" in err, err
            assert "name 'open' is not defined" in err
            assert ("breaks a rule" in err) == (not options)
    assert run("pass", "check", "--no-trace", allowed)[0] == 2
    assert not mark.exists()


def test_without_torch_the_text_is_the_answer(tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 'no module named torch' >&2\nexit 1\n")
    python.chmod(0o755)
    file = write(tmp_path, "\ndef pattern(x, w):\n    return x + w + dict(a=1)['a']\n")
    code, _, err = run("graph", "match", "--pattern", file, tmp_path / "model.py", GRAFT_PYTHON=str(python))
    assert code == 3 and f"{file}:5:20: name 'dict' is not defined" in err and "no module named torch" in err
    # A file that is wrong anyway is the answer.
    wrong = write(tmp_path, "\ndef pattern(x, w:\n", name="wrong")
    code, _, err = run("graph", "match", "--pattern", file, "--pattern", wrong, tmp_path / "model.py", GRAFT_PYTHON=str(python))
    assert code == 2 and f"{wrong}:4" in err


def test_an_evaluation_says_that_a_pass_was_traced(tmp_path):
    sample = graph_runner.ROOT / "samples" / "rms_norm"
    text = (sample / "pass_dir" / "rms_norm.py").read_text()
    assert "1e-06" in text
    passes = tmp_path / "pass_dir"
    passes.mkdir()
    (passes / "rms_norm.py").write_text(text.replace("1e-06", "dict(eps=1e-06)['eps']"))
    (passes / "sorted_output_pass_rule_names.json").write_text('["rms_norm"]')
    options = ["--pass-dir", passes, "--warmup", "0", "--trials", "1"]
    code, out, err = run("--json", "bench", "run", sample, *options, "--out", tmp_path / "out")
    document = json.loads(out)
    uses = [use for graph in document["samples"][0]["graphs"] for use in graph["passes"]]
    assert uses and all(use["matches"] == 1 and use["traced"] is True for use in uses), err
    assert "'dict' is not defined" in uses[0]["traced_because"] and "traced by torch.fx" in err
    code, out, _ = run("--json", "bench", "run", sample, *options, "--no-trace", "--out", tmp_path / "not_traced")
    assert code == 1 and json.loads(out)["samples"][0]["verdict"] == "crashed"
