"""Captured graphs: recorded by the trusted worker, kept in the store, matched on and rewritten by `--mode passbench`."""

from __future__ import annotations

import json
import os
import pathlib
import random
import subprocess
import textwrap

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("GRAFT_PROGRAM", ROOT / "build" / "graft"))
SAMPLES = ROOT / "samples"

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not built")

META = """
class Program_weight_tensor_meta_{name}:
    name = "{name}"
    shape = [6, 4]
    dtype = "torch.float32"
    device = "cpu"
    mean = 0.1
    std = 3.0
    data = None
"""

PASS = """
import torch
import graft


def pattern(x, w):
    return torch.relu(x * w)


def replacement_args(x, w):
    return (x, w)


_kernel = graft.kernels.cpp('''
void scale_relu(const float* x, const float* w, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] * w[i] > 0 ? x[i] * w[i] : 0;
}
''')


def scale_relu(x, w):
    out = torch.empty_like(x)
    _kernel(x, w, out, x.numel())
    return out


def replacement_func():
    return scale_relu
"""
KEYWORD_PASS = PASS.replace("torch.relu(x * w)", "torch.nn.functional.relu(x * w, inplace=False)")


def model_text(body: str, parameters: str = "x, w") -> str:
    lines = textwrap.indent(textwrap.dedent(body).strip(), " " * 8)
    return f"import torch\n\n\nclass GraphModule(torch.nn.Module):\n    def forward(self, {parameters}):\n{lines}\n"


PLAIN = model_text("y = torch.relu(x * w)\nreturn (y,)")
BREAKING = model_text("a = x + w\ntorch._dynamo.graph_break()\ny = torch.relu(a * w)\nreturn (y,)")
FAILING = model_text("y = torch.relu(x * w)\nz = y.view(5, 5)\nreturn (z,)")

# name -> model, pass
KINDS = {
    "plain": (PLAIN, PASS),
    # Written with a keyword, which the reference's trace of the pattern makes positional.
    "keyword": (model_text("y = torch.nn.functional.relu(x * w, inplace=False)\nreturn (y,)"), KEYWORD_PASS),
    # A parameter that is not needed, one that is written, one that is returned, a shape and literals in the result.
    "odd_result": (
        model_text("n = x.shape[0]\ny = torch.relu(x * w)\nw += 1\nreturn (y, [w, n], (unused, y), 2.5, None)", "unused, x, w"),
        PASS,
    ),
    "shapes": (model_text("a = x.view(x.shape[0], x.shape[1])\ny = torch.relu(a * w)\nreturn (y,)"), PASS),
    "one_of_two_matches": (BREAKING, PASS),
    "both_match": (model_text("a = torch.relu(x * w)\ntorch._dynamo.graph_break()\ny = torch.relu(a * w)\nreturn (y,)"), PASS),
    "fails": (FAILING, PASS),
    "forbidden": (PLAIN, PASS.replace("_kernel(x, w, out, x.numel())", "out = torch.relu(x * w)")),
}


def write_graph(folder: pathlib.Path, model: str) -> pathlib.Path:
    folder.mkdir(parents=True)
    (folder / "model.py").write_text(model)
    names = ("x", "w", "unused") if "unused" in model else ("x", "w")
    (folder / "weight_meta.py").write_text("\n".join(META.format(name=name) for name in names))
    (folder / "input_meta.py").write_text("")
    (folder / "graph_net.json").write_text('{"framework": "torch", "model_name": "test"}')
    return folder


def write_sample(folder: pathlib.Path, model: str, text: str) -> pathlib.Path:
    write_graph(folder / "g", model)
    (folder / "graph_list.txt").write_text("g\n")
    (folder / "pass_dir").mkdir()
    (folder / "pass_dir" / "fused.py").write_text(text)
    (folder / "pass_dir" / "sorted_output_pass_rule_names.json").write_text('["fused"]')
    return folder


@pytest.fixture(scope="module")
def cache(tmp_path_factory) -> pathlib.Path:
    """A store of these tests alone; compiled kernels lie beside it."""
    return tmp_path_factory.mktemp("cache")


def graft(cache: pathlib.Path, *arguments, code: int = 0, environment=None) -> subprocess.CompletedProcess:
    done = subprocess.run(
        [str(PROGRAM), *map(str, arguments)],
        capture_output=True, text=True, timeout=300, env={**os.environ, "GRAFT_CACHE": str(cache), **(environment or {})},
    )  # fmt: skip
    assert done.returncode == code, done.stderr + done.stdout
    return done


def capture(cache: pathlib.Path, graph: pathlib.Path, *more, code: int = 0, environment=None) -> dict:
    return json.loads(graft(cache, "--json", "graph", "capture", graph, *more, code=code, environment=environment).stdout)


GRAPHS = {"plain": PLAIN, "other_operator": PLAIN.replace("relu", "tanh"), "other_shape": PLAIN, "breaking": BREAKING}


def match_all(cache: pathlib.Path, folder: pathlib.Path) -> list[dict]:
    """Captures what the store lacks of the graphs below a folder, in one worker."""
    (folder / "fused.py").write_text(PASS)
    command = ("--json", "graph", "match", "--mode", "passbench", "--pattern", folder / "fused.py")
    results = json.loads(graft(cache, *command, *(folder / name for name in GRAPHS)).stdout)["results"]
    assert {result["matched_on"] for result in results} == {"capture"}
    return results


@pytest.fixture(scope="module")
def graphs(cache, tmp_path_factory) -> pathlib.Path:
    """The folders of GRAPHS, which are captured already."""
    folder = tmp_path_factory.mktemp("graphs")
    for name, model in GRAPHS.items():
        write_graph(folder / name, model)
    meta = folder / "other_shape" / "weight_meta.py"
    meta.write_text(meta.read_text().replace("[6, 4]", "[4, 6]"))
    assert [len(result["matches"]) for result in match_all(cache, folder)] == [1, 0, 1, 0, 1]
    return folder


def test_a_capture_is_kept_and_not_made_again(cache, graphs, tmp_path):
    """Damaged and old files are captured again; one with a mark is taken as it is, which shows that nobody made it again."""
    first = {name: capture(cache, graphs / name) for name in GRAPHS}
    assert all(answer["stored"] for answer in first.values())
    # Operator, shape and text decide; the folder does not.
    assert len({answer["key"] for answer in first.values()}) == len(GRAPHS)
    plain = first["plain"]
    assert (plain["breaks"], plain["differences"], plain["torch"]) == ([], [], torch.__version__.split("+")[0])
    assert plain["graphs"] == [{"nodes": 5, "parameters": ["x", "w"]}]
    assert plain["document"]["result"] == {"tuple": [{"output": [0, 0]}]}

    files = {name: cache / "captures" / f"{answer['key']}.json" for name, answer in first.items()}
    whole = {name: file.read_text() for name, file in files.items()}
    assert json.loads(whole["plain"]) == plain["document"]
    marked = json.loads(whole["plain"])
    marked["breaks"] = [{"reason": "a mark", "detail": "", "file": "model.py", "line": 6, "function": "forward"}]
    version = torch.__version__.split("+")[0]
    # What an interrupted copy, an older program or another torch would have left.
    damaged = {
        "plain": json.dumps(marked),
        "other_operator": whole["other_operator"][: len(whole["other_operator"]) // 2],
        "other_shape": whole["other_shape"].replace("capture/v2", "capture/v1"),
        "breaking": whole["breaking"].replace(f'"torch": "{version}"', '"torch": "1.0"'),
    }
    for name, text in damaged.items():
        assert text != whole[name]
        files[name].write_text(text)
    match_all(cache, graphs)
    for name, file in files.items():
        assert json.loads(file.read_text()) == (marked if name == "plain" else json.loads(whole[name])), name
    again = capture(cache, write_graph(tmp_path / "elsewhere", PLAIN))
    assert again["document"] == marked and again["differences"] == ["the graph breaks: model.py:6: a mark"]
    # The text form: the document alone on stdout, or in a file.
    assert json.loads(graft(cache, "-q", "graph", "capture", graphs / "plain").stdout) == marked
    done = graft(cache, "graph", "capture", graphs / "plain" / "model.py", "-o", tmp_path / "out.json")
    assert done.stdout == "" and json.loads((tmp_path / "out.json").read_text()) == marked
    files["plain"].write_text(whole["plain"])


def test_breaks_have_a_place_and_a_reason(cache, graphs):
    document = capture(cache, graphs / "breaking")
    (graph_break,) = document["breaks"]
    assert (graph_break["file"], graph_break["line"], graph_break["function"]) == ("model.py", 7, "forward")
    assert "graph_break" in graph_break["reason"]
    assert len(document["graphs"]) == 2
    # Behind the break a sum of the first graph comes in, which is no parameter.
    assert sorted(document["graphs"][1]["parameters"], key=str) == [None, "w"]
    assert document["document"]["result"] == {"tuple": [{"output": [1, 0]}]}
    assert str(graphs) not in json.dumps(document["document"])


def test_failures_have_a_class_and_exit_codes(tmp_path):
    own_cache = tmp_path / "cache"
    graph = write_graph(tmp_path / "g", FAILING)
    error = capture(own_cache, graph, code=1)["error"]
    assert error["class"] and "view" in error["message"] + error["traceback"]
    assert not list((own_cache / "captures").glob("*"))
    plain = write_graph(tmp_path / "plain", PLAIN)
    late = capture(own_cache, plain, "--timeout", "0.01", code=1)["error"]
    assert late["class"] == "" and "time" in late["message"]
    assert not list((own_cache / "captures").glob("*"))
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    done = graft(own_cache, "graph", "capture", plain, code=3, environment={"GRAFT_PYTHON": str(fake)})
    assert "torch" in done.stderr and done.stdout == ""
    (plain / "weight_meta.py").unlink()
    assert "weight_meta.py" in graft(own_cache, "graph", "capture", plain, code=2).stderr


# The kinds whose results on the text are looked at as well.
ON_TEXT = ("plain", "keyword", "odd_result", "shapes", "both_match")


@pytest.fixture(scope="module")
def runs(cache, tmp_path_factory) -> dict[str, dict[str, dict]]:
    """Every kind and the samples of the repository, each mode in one run: mode -> name -> the sample's result."""
    folder = tmp_path_factory.mktemp("runs")
    for name, (model, text) in KINDS.items():
        write_sample(folder / "samples" / name, model, text)
    paths = {"normalized": [folder / "samples" / name for name in ON_TEXT], "passbench": [folder / "samples", SAMPLES]}
    results = {}
    for mode, samples in paths.items():
        done = graft(
            cache, "--json", "bench", "run", *samples, "--mode", mode, "--warmup", "1", "--trials", "3",
            "--out", folder / mode, code=0 if mode == "normalized" else 1,
        )  # fmt: skip
        document = json.loads(done.stdout)
        assert document["mode"] == mode
        results[mode] = {sample["name"]: sample for sample in document["samples"]}
    return results


RIGHT = ("faster", "slower", "noisy")


@pytest.mark.parametrize("name", ["plain", "odd_result", "shapes"])
def test_rewritten_captures_are_right(runs, name):
    for mode, matched_on in (("normalized", "text"), ("passbench", "capture")):
        sample = runs[mode][name]
        (graph,) = sample["graphs"]
        assert sample["verdict"] in RIGHT, graph["message"]
        assert (graph["mode"], graph["matched_on"], graph["correct_from"]) == (mode, matched_on, -10)
        assert graph["inputs_mutated_equal"] is True
    text = pathlib.Path(runs["passbench"][name]["graphs"][0]["files"]["model"]).read_text()
    parameters = "self, unused, x, w" if name == "odd_result" else "self, x, w"
    assert f"def forward({parameters}):" in text and "graft_replacement_0(" in text


def test_a_keyword_is_no_match_in_passbench(runs):
    assert runs["normalized"]["keyword"]["verdict"] in RIGHT
    sample = runs["passbench"]["keyword"]
    (graph,) = sample["graphs"]
    assert (sample["verdict"], graph["status"], graph["matched_on"]) == ("no_match", "pass_miss", "capture")
    assert graph["passes"][0]["matches"] == 0 and "relu" in graph["passes"][0]["miss"]
    assert graph["passes"][0]["miss"] in graph["message"]


def test_differences_to_the_text(runs):
    for mode in ("normalized", "passbench"):
        assert runs[mode]["plain"]["graphs"][0]["differences"] == []
        # Dynamo knows the sizes; the text asks for them.
        differences = runs[mode]["shapes"]["graphs"][0]["differences"]
        assert len(differences) == 4 and all("is only in the text" in sentence for sentence in differences)
        assert any("x.shape (line 6)" in sentence for sentence in differences)
    assert runs["passbench"]["fails"]["graphs"][0]["differences"] is None


def test_every_captured_graph_must_match(runs):
    sample = runs["passbench"]["one_of_two_matches"]
    (graph,) = sample["graphs"]
    assert (sample["verdict"], graph["capture"]["matches"]) == ("no_match", [0, 1])
    assert "every captured graph must match" in graph["message"]
    assert graph["capture"]["breaks"][0]["line"] == 7

    sample = runs["passbench"]["both_match"]
    (graph,) = sample["graphs"]
    # Nothing is known about the pass: what it matched cannot be printed as one module.
    assert (sample["verdict"], graph["status"]) == ("machine_fault", "eager_fail")
    assert graph["capture"]["matches"] == [1, 1] and "2 graphs" in graph["capture"]["cannot_rewrite"]
    assert graph["capture"]["cannot_rewrite"] in graph["message"]
    assert "the graph breaks" in runs["normalized"]["both_match"]["graphs"][0]["differences"][0]


def test_failed_captures_and_forbidden_passes_leave_the_others_alone(runs):
    (graph,) = runs["passbench"]["fails"]["graphs"]
    assert (graph["verdict"], graph["matched_on"]) == ("machine_fault", None)
    assert graph["error"]["class"] == graph["capture"]["error"]["class"] != ""
    (graph,) = runs["passbench"]["forbidden"]["graphs"]
    assert (graph["verdict"], graph["matched_on"], graph["capture"]) == ("forbidden", None, None)


def test_the_samples_of_the_repository(runs):
    verdicts = {path.name: runs["passbench"][path.name]["verdict"] for path in SAMPLES.iterdir()}
    assert verdicts.pop("rms_norm") in RIGHT
    # softmax(x, dim=-1) has a Python signature, so the reference's pattern is positional and the graph is not.
    assert verdicts == {"masked_softmax": "no_match", "layer_norm_wrong": "wrong"}


def test_graph_match_takes_the_capture_or_says_why_not(cache, tmp_path):
    sample = write_sample(tmp_path / "s", KINDS["shapes"][0], PASS)
    command = ("--json", "graph", "match", "--mode", "passbench", "--pattern", sample / "pass_dir" / "fused.py")
    document = json.loads(graft(cache, *command, sample / "g").stdout)
    (result,) = document["results"]
    # Two inputs and the view come first: the sizes are not nodes of the captured graph.
    assert (result["matched_on"], result["matches"]) == ("capture", [[3, 4]])
    assert len(document["differences"]) == 4
    (sample / "g" / "weight_meta.py").unlink()
    done = graft(cache, *command, sample / "g")
    (result,) = json.loads(done.stdout)["results"]
    assert result["matched_on"] == "text" and "differences" not in json.loads(done.stdout)
    assert "matched on its text" in done.stderr and "weight_meta.py" in done.stderr


class _Leaves:
    """What a worker's later calls depend on, before and after."""

    @staticmethod
    def state():
        numpy = pytest.importorskip("numpy")
        return (
            random.getstate(), numpy.random.get_state()[1].tolist(), torch.get_rng_state().tolist(), torch.is_grad_enabled(),
            torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"), torch.is_autocast_cache_enabled(),
        )  # fmt: skip


@pytest.mark.parametrize("body", ["y = torch.dropout(x * w, 0.5, True)\nreturn (y,)", None], ids=["random", "fails_in_autocast"])
def test_the_worker_is_as_before(tmp_path, body):
    captures = pytest.importorskip("graft._worker.captures")
    failing = """
        a = torch.amp.autocast_mode._enter_autocast("cpu", torch.bfloat16, True, False)
        torch._C._set_grad_enabled(False)
        y = (x @ w).view(5, 5)
        return (y,)
    """
    text = model_text(body or failing)
    size = 6 * 4 * 4
    inputs, out = os.memfd_create("inputs"), os.memfd_create("out")
    os.ftruncate(inputs, 2 * size)
    reader = os.dup(out)
    layout = [{"name": name, "dtype": "float32", "shape": [6, 4], "offset": offset} for name, offset in (("x", 0), ("w", size))]
    request = {"source": text, "file": str(tmp_path / "model.py"), "inputs": layout, "bytes": 2 * size}
    before = _Leaves.state()
    if body:
        reply = captures.capture_graph(request, [inputs, out], "cpu")
        assert len(json.loads(os.pread(reader, reply["written"], 0))["graphs"]) == 1
    else:
        with pytest.raises((RuntimeError, AssertionError)):  # of the view, or of Dynamo about autocast
            captures.capture_graph(request, [inputs, out], "cpu")
    os.close(reader)
    assert _Leaves.state() == before
    # Nothing compiled is left to be called instead of a function that is called next.
    assert torch._C._dynamo.eval_frame.get_eval_frame_callback() is None
    assert not torch._dynamo.utils.graph_break_reasons
