"""`graft bench run` beside its passes: controls, torch.compile as candidate and baseline, the reference's way of timing, limits."""

from __future__ import annotations

import json
import pathlib

import pytest

from test_bench_run import FAST, MODEL, PROGRAM, bench_run, pass_text, write_graph, write_sample

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not built")

# The reference writes every argument of a pattern by place, and matches only graphs that do so too.
POSITIONAL = MODEL.replace("inplace = False", "False")


def run(folder: pathlib.Path, *arguments, code: int | None = 0, **options) -> dict:
    return json.loads(bench_run(*arguments, *FAST, "--out", folder / "out", code=code, **options).stdout)


def test_identity_is_the_original_read_and_printed_back(tmp_path):
    write_graph(tmp_path / "graph")
    document = run(tmp_path, tmp_path / "graph", "--candidate", "identity")
    assert document["candidate"] == "identity" and document["copy_bytes_per_second"] > 1e8
    graph = document["samples"][0]["graphs"][0]
    assert graph["status"] == "correct" and graph["correct_from"] == -10 and graph["outputs"][0]["equal"]
    assert graph["profile"]["least_bytes"] == 3 * 64 * 32 * 4
    log = (tmp_path / "out" / "graph" / "validation.log").read_text()
    assert "[Config] compiler: nope" in log


def test_torch_compile_beside_the_passes_and_in_their_place(tmp_path):
    sample = write_sample(tmp_path / "sample", pass_text())
    document = run(tmp_path, sample, "--baseline", "eager,inductor")
    (baseline,) = document["samples"][0]["graphs"][0]["baselines"]
    assert baseline["name"] == "inductor" and baseline["failure"] is None
    assert baseline["correct_from"] <= -5 and baseline["speedup"] > 0 and baseline["first_call_ms"] > baseline["ms"]
    arguments = ["--candidate", "inductor", "--inductor-options", '{"fullgraph": true}']
    graph = run(tmp_path / "other", sample, *arguments)["samples"][0]["graphs"][0]
    assert graph["status"] == "correct" and graph["passes"] == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["--baseline", "eager,nothing"],
        ["--candidate", "inductor", "--inductor-options", "[1]"],
        ["--inductor-options", '{"x": 1}'],
    ],
)
def test_words_that_mean_nothing(tmp_path, arguments):
    sample = write_sample(tmp_path / "sample", pass_text())
    bench_run(sample, *arguments, "--out", tmp_path / "out", code=2)
    assert not (tmp_path / "out").exists()


def test_strict_timing_and_its_log(tmp_path):
    """A pass is called behind torch.compile, and what fails at run time is classed as the reference's readers class it."""
    right = (
        "import traceback\nassert any('_dynamo' in line for line in traceback.format_stack())\n_kernel(x, w, out, x.numel(), 1.0)"
    )
    write_sample(tmp_path / "samples" / "right", pass_text(right), model=POSITIONAL)
    write_sample(tmp_path / "samples" / "raises", pass_text('raise ValueError("boom")'), model=POSITIONAL)
    write_sample(
        tmp_path / "samples" / "wrong_dtype", pass_text("out = torch.empty_like(x, dtype=torch.float64)"), model=POSITIONAL
    )
    document = run(tmp_path, tmp_path / "samples", "--strict-passbench", code=1)
    assert document["timing"] == "passbench"
    samples = {sample["name"]: sample for sample in document["samples"]}
    graphs = {name: sample["graphs"][0] for name, sample in samples.items()}
    assert graphs["right"]["status"] == "correct", graphs["right"]["message"]
    assert graphs["raises"]["verdict"] == "crashed" and graphs["wrong_dtype"]["verdict"] == "wrong"
    # The scores are those of the log as the reference reads it.
    logs = [samples[name]["files"]["log"] for name in ("raises", "wrong_dtype")]
    assert "[Datatype]" not in pathlib.Path(logs[0]).read_text() and "[Shape]" not in pathlib.Path(logs[1]).read_text()
    assert samples["raises"]["es"]["4"] == pytest.approx(0.1) and samples["wrong_dtype"]["es"]["3"] == pytest.approx(1.0)


def test_a_noisy_phase_fails_where_its_threshold_is_set(tmp_path, monkeypatch):
    sample = write_sample(tmp_path / "sample", pass_text(), model=POSITIONAL)
    monkeypatch.setenv("GRAPH_NET_FLUCTUATION_DETECT_THRESHOLD", "1e-9")
    graph = run(tmp_path, sample, "--strict-passbench", code=None)["samples"][0]["graphs"][0]
    assert graph["status"] == "eager_fail" and "which the reference counts as a failure" in graph["message"]


def test_limits_keep_the_first_passes(tmp_path):
    sample = write_sample(tmp_path / "sample", pass_text().replace("x * w\n", "x - w\n", 1))
    passes = sample / "pass_dir"
    (passes / "second.py").write_text(pass_text())
    (passes / "sorted_output_pass_rule_names.json").write_text('["scale_relu", "second"]')
    assert run(tmp_path, sample)["samples"][0]["matched"]
    for number, limit in enumerate(("--function-limit", "--pattern-limit")):
        document = run(tmp_path / str(number), sample, limit, "1", code=1)
        graph = document["samples"][0]["graphs"][0]
        assert graph["status"] == "pass_miss" and [entry["name"] for entry in graph["passes"]] == ["scale_relu"]
    bench_run(sample, "--pattern-limit", "0", "--out", tmp_path / "none", code=2)


def test_passes_that_share_a_function_are_one_function(tmp_path):
    text = pass_text().partition("_kernel = ")[0] + "def replacement_func():\n    return shared\n"
    sample = write_sample(tmp_path / "sample", "from pass_dir.helper import shared\n" + text.replace("x * w\n", "x - w\n", 1))
    passes = sample / "pass_dir"
    kernel = "_kernel = " + pass_text(ending="shared = scale_relu\n").partition("_kernel = ")[2]
    (passes / "helper.py").write_text("import torch\nimport graft\n\n" + kernel)
    (passes / "second.py").write_text("from pass_dir.helper import shared\n" + text)
    (passes / "sorted_output_pass_rule_names.json").write_text('["scale_relu", "second"]')
    graph = run(tmp_path, sample, "--function-limit", "1")["samples"][0]["graphs"][0]
    assert [entry["matches"] for entry in graph["passes"]] == [0, 1], graph["message"]
