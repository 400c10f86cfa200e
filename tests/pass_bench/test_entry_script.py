"""A sample's entry.sh, in the form PassBench's samples have it: a relative link to one script, which calls the package pass_bench."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("GRAFT_PROGRAM", ROOT / "build" / "graft"))

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not built")


def script_text(tmp_path) -> str:
    """The script that `bench unpack` gives every sample."""
    graph = ROOT / "samples" / "rms_norm" / "graphs" / "rms_norm_small"
    record = {"name": "one", **{path.name: path.read_text() for path in graph.iterdir() if path.is_file()}}
    records = tmp_path / "records.jsonl"
    records.write_text(json.dumps(record) + "\n")
    subprocess.run([PROGRAM, "bench", "unpack", records, tmp_path / "unpacked"], check=True, capture_output=True, timeout=60)
    return (tmp_path / "unpacked" / "one" / "entry.sh").read_text()


@pytest.fixture
def tree(tmp_path):
    """A clone in small: pass_bench and entry_scripts at the top, a sample below with a relative link to the script."""
    top = tmp_path / "clone with space"
    (top / "entry_scripts").mkdir(parents=True)
    (top / "pass_bench").symlink_to(ROOT / "python" / "pass_bench")
    script = top / "entry_scripts" / "entry.sh"
    script.write_text(script_text(tmp_path))
    script.chmod(0o755)
    sample = top / "samples" / "rms_norm"
    shutil.copytree(ROOT / "samples" / "rms_norm", sample, ignore=shutil.ignore_patterns("entry.sh"))
    (sample / "graph_list.txt").write_text("graphs/rms_norm_small\n")
    (sample / "entry.sh").symlink_to("../../entry_scripts/entry.sh")
    return top


def run(tree, tmp_path, **variables):
    workspace = tmp_path / "workspace"
    environment = {k: v for k, v in os.environ.items() if k != "GRAPH_NET_FLUCTUATION_DETECT_THRESHOLD"}
    environment.update(GRAFT_PROGRAM=str(PROGRAM), PASS_BENCH_WORKSPACE=str(workspace), PASS_BENCH_DEVICE="cpu", **variables)
    result = subprocess.run(
        ["bash", "samples/rms_norm/entry.sh"], cwd=tree, env=environment, capture_output=True, text=True, timeout=200
    )
    return result, workspace


def test_the_script_evaluates_and_scores(tree, tmp_path):
    result, workspace = run(tree, tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Has Any pass matched? [True]" in result.stdout
    log = (workspace / "validation.log").read_text()
    assert "[Result] status: success" in log and "[Config] compiler: pass_mgr" in log
    score = json.loads((workspace / "aggregated_score.json").read_text())
    again = subprocess.run(
        [PROGRAM, "--json", "bench", "score", workspace / "validation.log"],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert score == {"id": 1, "score": pytest.approx(json.loads(again.stdout)["curves"][0]["score"], abs=1e-12)}
    assert f"aggregated_speedup={score['score']}" in result.stdout


def test_a_pass_that_does_not_match_is_said_and_scored(tree, tmp_path):
    rule = next((tree / "samples" / "rms_norm" / "pass_dir").glob("*.py"))
    text = rule.read_text()
    assert ".pow(2)" in text
    rule.write_text(text.replace(".pow(2)", ".pow(3)"))
    result, workspace = run(tree, tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Has Any pass matched? [False]" in result.stdout
    assert json.loads((workspace / "aggregated_score.json").read_text())["score"] == pytest.approx(0.1, abs=1e-9)


def test_every_graph_of_a_broken_sample_counts_as_failed(tree, tmp_path):
    sample = tree / "samples" / "rms_norm"
    (sample / "pass_dir" / "sorted_output_pass_rule_names.json").write_text('["absent"]')
    (sample / "graph_list.txt").write_text("graphs/rms_norm_small\ngraphs/nowhere\n")
    result, workspace = run(tree, tmp_path)
    assert "absent" in result.stdout + result.stderr
    log = (workspace / "validation.log").read_text()
    assert log.count("[Processing]") == 2
    assert json.loads((workspace / "aggregated_score.json").read_text())["score"] == pytest.approx(0.1, abs=1e-9)


def test_without_the_package_the_script_says_so(tree, tmp_path):
    (tree / "pass_bench").unlink()
    result, _ = run(tree, tmp_path, PYTHONPATH="")
    assert result.returncode == 255 and "Python module pass_bench not found" in result.stdout
