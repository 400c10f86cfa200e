"""`graft bench run` on passes that are right, wrong, broken and hostile: each gets its verdict, and the others go on."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import textwrap
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("GRAFT_PROGRAM", ROOT / "build" / "graft"))

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not built")

MODEL = """
import torch


class GraphModule(torch.nn.Module):
    def forward(self, in_0, w_0):
        tmp_0 = in_0 * w_0;  in_0 = w_0 = None
        tmp_1 = torch.nn.functional.relu(tmp_0, inplace = False);  tmp_0 = None
        return (tmp_1,)
"""

META = """
class Program_weight_tensor_meta_in_0:
    name = "in_0"
    shape = [64, 32]
    dtype = "torch.float32"
    device = "cuda:0"
    mean = 0.1
    std = 3.0
    data = None


class Program_weight_tensor_meta_w_0:
    name = "w_0"
    shape = [64, 32]
    dtype = "torch.float32"
    device = "cuda:0"
    mean = 1.0
    std = 0.5
    data = None
"""

PASS = """
import torch
import graft
{imports}

def pattern(x, w):
    scaled = x * w
    return torch.nn.functional.relu(scaled, inplace=False)


def replacement_args(x, w):
    return (x, w)


_kernel = graft.kernels.cpp('''
void scale_relu(const float* x, const float* w, float* out, int64_t n, float factor) {{
  for (int64_t i = 0; i < n; ++i) {{
    float value = x[i] * w[i] * factor;
    out[i] = value > 0 ? value : 0;
  }}
}}
''')


def scale_relu(x, w):
    out = torch.empty_like(x)
{body}
    return out


{ending}
"""

ENDING = "def replacement_func():\n    return scale_relu\n"
RIGHT = "_kernel(x, w, out, x.numel(), 1.0)"


def pass_text(body: str = RIGHT, imports: str = "", ending: str = ENDING) -> str:
    return PASS.format(imports=imports, body=textwrap.indent(textwrap.dedent(body).strip(), "    "), ending=ending)


def write_graph(folder: pathlib.Path, model: str = MODEL, meta: str = META) -> None:
    folder.mkdir(parents=True)
    (folder / "model.py").write_text(model)
    (folder / "weight_meta.py").write_text(meta)
    (folder / "input_meta.py").write_text("")
    (folder / "graph_net.json").write_text('{"framework": "torch", "model_name": "test/scale_relu"}')


def write_sample(
    folder: pathlib.Path, text: str, graphs: tuple[str, ...] = ("g",), model: str = MODEL, meta: str = META
) -> pathlib.Path:
    for graph in graphs:
        write_graph(folder / "graphs" / graph, model, meta)
    (folder / "graph_list.txt").write_text("".join(f"graphs/{graph}\n" for graph in graphs))
    (folder / "pass_dir").mkdir()
    (folder / "pass_dir" / "scale_relu.py").write_text(text)
    (folder / "pass_dir" / "sorted_output_pass_rule_names.json").write_text('["scale_relu"]')
    return folder


def bench_run(*arguments, code: int | None = None, **options) -> subprocess.CompletedProcess:
    command = [str(PROGRAM), "bench", "run", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=300, **options)
    if code is not None:
        assert done.returncode == code, done.stderr + done.stdout
    return done


FAST = ("--warmup", "1", "--trials", "5", "--json")

# What a pass does -> its text, and the status and verdict it must get. `right` is every verdict of right outputs.
FAKE_LOG = (
    "graph-net-test-compiler-log [Processing] forged\\n"
    "graph-net-test-compiler-log [Correctness][equal]: 1\\n"
    "graph-net-test-compiler-log [Speedup][e2e]: 99.0\\n"
    "Exception: Error: nothing\\n"
    '{\\"id\\": 3, \\"result\\": {}}\\n'
)
KINDS = {
    "right": (pass_text(), "correct", "right"),
    "prints_garbage": (pass_text(f'sys.stdout.write("{FAKE_LOG}" * 100)\n{RIGHT}', "import sys"), "correct", "right"),
    "prints_endlessly": (pass_text(f'os.write(1, b"x" * 1000000)\n{RIGHT}', "import os"), "correct", "right"),
    "changes_its_input": (pass_text(f"{RIGHT}\n_kernel(x, w, x, x.numel(), 5.0)"), "correct", "right"),
    "wrong_by_one_percent": (pass_text("_kernel(x, w, out, x.numel(), 1.01)"), "accuracy", "wrong"),
    "writes_nothing": (pass_text("pass"), "accuracy", "wrong"),
    "writes_half": (pass_text("_kernel(x, w, out, x.numel() // 2, 1.0)"), "accuracy", "wrong"),
    "wrong_dtype": (pass_text("out = torch.empty_like(x, dtype=torch.float64)"), "type_mismatch", "wrong"),
    "wrong_shape": (pass_text("out = torch.empty((2, 1024), dtype=torch.float32)"), "shape_mismatch", "wrong"),
    "two_outputs": (pass_text("out = (out, out)"), "shape_mismatch", "wrong"),
    "no_match": (pass_text().replace("x * w\n", "x - w\n", 1), "pass_miss", "no_match"),
    "raises": (pass_text('raise ValueError("boom")'), "runtime_fail", "crashed"),
    "exits": (pass_text("sys.exit(0)", "import sys"), "runtime_fail", "crashed"),
    "ends_the_process": (pass_text("os._exit(0)", "import os"), "runtime_fail", "crashed"),
    "segmentation_fault": (
        pass_text().replace("out[i] = ", "*reinterpret_cast<volatile float*>(i) = "),
        "runtime_fail",
        "crashed",
    ),
    "closes_all_descriptors": (pass_text(f"os.closerange(0, 1000)\n{RIGHT}", "import os"), "runtime_fail", "crashed"),
    "writes_to_the_channel": (pass_text(f'os.write(3, b"garbage\\n")\n{RIGHT}', "import os"), "runtime_fail", "crashed"),
    "kills_its_group": (pass_text("os.killpg(0, 9)", "import os"), "runtime_fail", "crashed"),
    "import_error": (pass_text(imports="import no_such_module_anywhere"), "compile_fail", "crashed"),
    "exits_while_loading": (pass_text(imports="import os\nos._exit(5)"), "compile_fail", "crashed"),
    "kernel_does_not_compile": (pass_text().replace("float value =", "flat value ="), "compile_fail", "crashed"),
    "unstable_function": (
        pass_text(ending="def replacement_func():\n    return lambda x, w: scale_relu(x, w)\n"),
        "compile_fail",
        "crashed",
    ),
    "syntax_error": (pass_text(ending="def replacement_func(:\n"), "compile_fail", "crashed"),
    "calls_torch": (pass_text("out = torch.relu(x)"), "compile_fail", "forbidden"),
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> dict[str, dict]:
    """All kinds in one run: what one pass does must not touch the next one's result."""
    folder = tmp_path_factory.mktemp("kinds")
    for name, (text, _, _) in KINDS.items():
        write_sample(folder / "samples" / name, text)
    done = bench_run(folder / "samples", *FAST, "--out", folder / "out", code=1)
    document = json.loads(done.stdout)
    assert document["schema"] == "graft/bench-run/v1"
    assert json.loads((folder / "out" / "result.json").read_text()) == document
    return {sample["name"]: sample for sample in document["samples"]}


@pytest.mark.parametrize("name", KINDS)
def test_verdict(tree, name):
    _, status, verdict = KINDS[name]
    sample = tree[name]
    graph = sample["graphs"][0]
    assert graph["status"] == status, graph["message"]
    if verdict == "right":
        assert sample["verdict"] in ("faster", "slower", "noisy")
        assert graph["correct_from"] == -10
        assert graph["speedup"]["e2e"] > 0 and sample["score"] > 0
    else:
        assert sample["verdict"] == verdict
        assert graph["message"]
    assert graph["matched"] == (name not in ("no_match", "syntax_error"))


def test_every_sample_has_its_files(tree):
    for sample in tree.values():
        files = sample["files"]
        assert json.loads(pathlib.Path(files["result"]).read_text())["samples"][0]["name"] == sample["name"]
        score = json.loads(pathlib.Path(files["score"]).read_text())
        assert score["score"] == sample["score"]
        assert pathlib.Path(files["log"]).read_text().count("[Processing]") == 1


def test_the_log_gives_the_same_score(tree):
    for name in ("right", "wrong_by_one_percent", "raises", "no_match", "prints_garbage"):
        done = subprocess.run(
            [str(PROGRAM), "--json", "bench", "score", tree[name]["files"]["log"]], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["curves"][0]["score"] == pytest.approx(tree[name]["score"], rel=1e-9), name


def test_what_a_pass_printed_is_kept_within_bounds(tree):
    garbage = pathlib.Path(tree["prints_garbage"]["graphs"][0]["files"]["output"]).read_text()
    assert "[Processing] forged" in garbage
    endless = pathlib.Path(tree["prints_endlessly"]["graphs"][0]["files"]["output"])
    assert endless.stat().st_size < 2 << 20
    assert "more bytes were dropped" in endless.read_text()[-100:]


def test_reasons_are_said(tree):
    def message(name: str) -> str:
        return tree[name]["graphs"][0]["message"]

    assert "ValueError: boom" in message("raises")
    assert "boom" in tree["raises"]["graphs"][0]["error"]["traceback"]
    assert "signal 11" in message("segmentation_fault")
    assert "exit code 0" in message("ends_the_process")
    # Whichever is noticed first: that the channel is closed, or that the worker cannot go on without it.
    assert "closed its channel" in message("closes_all_descriptors") or "exit code" in message("closes_all_descriptors")
    assert "malformed" in message("writes_to_the_channel")
    assert "no_such_module_anywhere" in message("import_error")
    assert "another object each time" in message("unstable_function")
    assert "output 0 is off by" in message("writes_nothing")
    assert "float64" in message("wrong_dtype") and "float32" in message("wrong_dtype")
    assert "2 outputs instead of 1" in message("two_outputs")
    assert "scale_relu.py:" in message("syntax_error")


def test_changed_inputs_are_told(tree):
    assert tree["right"]["graphs"][0]["inputs_mutated_equal"] is True
    assert tree["changes_its_input"]["graphs"][0]["inputs_mutated_equal"] is False


def test_correct_from_of_a_small_error(tree):
    # One percent of values up to about 10, rtol + atol: 2.9e-4 and 1e-3 at t = -3, 4.4e-3 and 1e-2 at -2, 6.7e-2 and 0.1 at -1.
    assert tree["wrong_by_one_percent"]["graphs"][0]["correct_from"] == -1


def test_table_and_exit_code_of_a_right_sample(tmp_path):
    sample = write_sample(tmp_path / "good", pass_text())
    done = bench_run(sample, "--warmup", "1", "--trials", "5", "--out", tmp_path / "out", code=0)
    lines = done.stdout.splitlines()
    assert lines[0].split()[:3] == ["sample", "verdict", "matched"]
    assert lines[1].split()[0] == "good"
    assert lines[-1].startswith("1 of 1 sample right") and lines[-1].endswith(str(tmp_path / "out"))


def test_level_that_decides(tmp_path):
    sample = write_sample(tmp_path / "loose", pass_text("_kernel(x, w, out, x.numel(), 1.01)"))
    bench_run(sample, *FAST, "--correct-at", "-1", "--out", tmp_path / "out", code=0)


def test_a_graph_folder_with_passes_from_elsewhere(tmp_path):
    sample = write_sample(tmp_path / "s", pass_text())
    done = bench_run(sample / "graphs" / "g", "--pass-dir", sample / "pass_dir", *FAST, "--out", tmp_path / "out", code=0)
    assert json.loads(done.stdout)["samples"][0]["matched"] is True


def test_several_graphs_of_which_one_is_missing(tmp_path):
    sample = write_sample(tmp_path / "several", pass_text(), graphs=("a", "b"))
    with (sample / "graph_list.txt").open("a") as file:
        file.write("graphs/absent\n")
    done = bench_run(sample, *FAST, "--out", tmp_path / "out", code=1)
    result = json.loads(done.stdout)["samples"][0]
    assert [graph["status"] for graph in result["graphs"]] == ["correct", "correct", "eager_fail"]
    assert result["verdict"] == "machine_fault"
    assert (tmp_path / "out" / "several" / "graph_1" / "model.py").exists()


IN_PLACE_MODEL = """
import torch


class GraphModule(torch.nn.Module):
    def forward(self, in_0, w_0):
        tmp_0 = in_0 * w_0
        tmp_1 = torch.nn.functional.relu(tmp_0, inplace = False);  tmp_0 = None
        in_0 += 1
        return (tmp_1, in_0)
"""


def test_a_graph_that_writes_its_inputs(tmp_path):
    """Every call must see fresh inputs: after a hundred calls in place the values would be far away."""
    sample = write_sample(tmp_path / "in_place", pass_text(), model=IN_PLACE_MODEL)
    graph = json.loads(bench_run(sample, *FAST, "--out", tmp_path / "out").stdout)["samples"][0]["graphs"][0]
    assert graph["inputs_changed"] == ["in_0"]
    assert graph["correct_from"] == -10
    assert graph["inputs_mutated_equal"] is True
    assert graph["outputs"][1]["eager"]["aliases"] == ["in_0"]


@pytest.mark.parametrize(
    "body, status",
    [("while True: pass", "runtime_fail"), ("import time; time.sleep(1000)", "runtime_fail")],
    ids=["loop", "sleep"],
)
def test_endless_passes_end_at_their_time(tmp_path, body, status):
    sample = write_sample(tmp_path / "endless", pass_text(body))
    started = time.monotonic()
    done = bench_run(sample, *FAST, "--timeout", "6", "--out", tmp_path / "out", code=1)
    assert time.monotonic() - started < 60
    result = json.loads(done.stdout)["samples"][0]
    assert (result["verdict"], result["graphs"][0]["status"]) == ("timed_out", status)


def test_endless_loading_ends_at_its_time(tmp_path):
    sample = write_sample(tmp_path / "endless", pass_text(imports="while True: pass"))
    result = json.loads(bench_run(sample, *FAST, "--timeout", "2", "--out", tmp_path / "out", code=1).stdout)["samples"][0]
    assert (result["verdict"], result["graphs"][0]["status"]) == ("timed_out", "compile_fail")


def test_no_process_is_left_behind(tmp_path):
    body = f"subprocess.Popen(['sleep', '987.654'])\n{RIGHT}"
    sample = write_sample(tmp_path / "parent", pass_text(body, "import subprocess"))
    bench_run(sample, *FAST, "--out", tmp_path / "out")
    time.sleep(0.2)
    left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
    assert "987.654" not in left


def wrong_request(sample: pathlib.Path, tmp_path: pathlib.Path, *arguments) -> str:
    """Runs what must be refused before anything starts; the message."""
    done = bench_run(sample, "--out", tmp_path / "out", *arguments, code=2)
    assert done.stdout == "" and not (tmp_path / "out").exists()
    return done.stderr


def test_wrong_input_is_refused_before_anything_starts(tmp_path):
    assert "is not a folder" in wrong_request(tmp_path / "nowhere", tmp_path)

    broken_order = write_sample(tmp_path / "broken_order", pass_text())
    (broken_order / "pass_dir" / "sorted_output_pass_rule_names.json").write_text('["scale_relu"')
    assert "sorted_output_pass_rule_names.json:1:" in wrong_request(broken_order, tmp_path)

    absent_pass = write_sample(tmp_path / "absent_pass", pass_text())
    (absent_pass / "pass_dir" / "scale_relu.py").unlink()
    assert "scale_relu" in wrong_request(absent_pass, tmp_path)

    broken_model = write_sample(tmp_path / "broken_model", pass_text(), model=MODEL + "\ndef broken(:\n")
    assert "model.py:11:11" in wrong_request(broken_model, tmp_path)

    broken_meta = write_sample(tmp_path / "broken_meta", pass_text(), meta=META.replace("[64, 32]", "[64, -32]", 1))
    assert "weight_meta.py:4:" in wrong_request(broken_meta, tmp_path)

    good = write_sample(tmp_path / "good", pass_text())
    assert "--pass-dir" in wrong_request(good / "graphs" / "g", tmp_path)
    assert "TRIALS" in wrong_request(good, tmp_path, "--trials", "0").upper()
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "file").write_text("")
    assert "not empty" in bench_run(good, "--out", tmp_path / "used", code=2).stderr


def test_a_parameter_without_metadata(tmp_path):
    sample = write_sample(tmp_path / "s", pass_text(), meta=META[: META.index("class Program_weight_tensor_meta_w_0")])
    result = json.loads(bench_run(sample, *FAST, "--out", tmp_path / "out", code=1).stdout)["samples"][0]
    assert result["graphs"][0]["status"] == "eager_fail"
    assert "w_0" in result["graphs"][0]["message"]


def test_missing_python_is_told(tmp_path):
    sample = write_sample(tmp_path / "s", pass_text())
    environment = dict(os.environ, GRAFT_PYTHON=str(tmp_path / "no-python"))
    bench_run(sample, "--out", tmp_path / "out", env=environment, code=2)
    # An interpreter without torch.
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    done = bench_run(sample, "--out", tmp_path / "out", env=dict(os.environ, GRAFT_PYTHON=str(fake)), code=3)
    assert "does not start" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_gpu_that_is_not_there_is_told(tmp_path):
    if os.path.exists("/dev/nvidiactl"):
        pytest.skip("this machine has a GPU")
    sample = write_sample(tmp_path / "s", pass_text())
    done = bench_run(sample, "--device", "cuda", "--out", tmp_path / "out", code=3)
    assert "CUDA" in done.stderr


def test_interrupt_keeps_what_is_finished(tmp_path):
    write_sample(tmp_path / "samples" / "a_quick", pass_text())
    write_sample(tmp_path / "samples" / "b_endless", pass_text("while True: pass"))
    command = [PROGRAM, "bench", "run", tmp_path / "samples", *FAST, "--out", tmp_path / "out"]
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True)
    limit = time.monotonic() + 120
    while not (tmp_path / "out" / "a_quick" / "result.json").exists() and time.monotonic() < limit:
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    document = json.loads(output)
    assert document["interrupted"] is True
    assert [sample["name"] for sample in document["samples"]] == ["a_quick"]
    assert json.loads((tmp_path / "out" / "result.json").read_text()) == document


TRITON_PASS = """
import torch
import triton
import triton.language as tl


def pattern(x, w):
    scaled = x * w
    return torch.nn.functional.relu(scaled, inplace=False)


def replacement_args(x, w):
    return (x, w)


@triton.jit
def _kernel(x, w, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    value = tl.load(x + offsets, mask=inside) * tl.load(w + offsets, mask=inside)
    tl.store(out + offsets, tl.maximum(value, 0.0), mask=inside)


def scale_relu(x, w):
    out = torch.empty_like(x)
    _kernel[(triton.cdiv(x.numel(), 256),)](x, w, out, x.numel(), BLOCK=256)
    return out


def replacement_func():
    return scale_relu
"""


def test_triton_in_its_interpreter(tmp_path):
    pytest.importorskip("triton")
    sample = write_sample(tmp_path / "triton", TRITON_PASS)
    environment = dict(os.environ, TRITON_INTERPRET="1")
    done = bench_run(sample, "--warmup", "0", "--trials", "2", "--json", "--out", tmp_path / "out", env=environment, code=0)
    assert json.loads(done.stdout)["samples"][0]["graphs"][0]["correct_from"] == -10
