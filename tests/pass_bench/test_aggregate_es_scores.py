"""python -m pass_bench.aggregate_es_scores: PassBench's flags, lines and score file over Graft's scores."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("GRAFT_PROGRAM", ROOT / "build" / "graft"))
LOGS = ROOT / "tests" / "bench" / "data"
GOLDEN = ROOT.parent / "shared" / "golden" / "passbench"

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not built")


def aggregate(log, out, *arguments, **variables):
    environment = {k: v for k, v in os.environ.items() if k != "PASSNET_CUSTOM_WEIGHT_FUNC_PATH"}
    environment.update(variables, PYTHONPATH=str(ROOT / "python"), GRAFT_PROGRAM=str(PROGRAM))
    command = [sys.executable, "-m", "pass_bench.aggregate_es_scores", "--benchmark-path", str(log), "--sample-id", "7"]
    command += ["--output-json-file-path", str(out), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, cwd=out.parent)


def test_score_file_and_lines(tmp_path):
    out = tmp_path / "score.json"
    result = aggregate(LOGS / "one.log", out, "--disable-aggregation-mode", "--fpdb", "0.1")
    assert result.returncode == 0, result.stderr
    assert json.loads(out.read_text()) == {"id": 7, "score": pytest.approx(1.25, abs=1e-12)}
    assert out.read_text().startswith('{\n    "id": 7')
    lines = result.stdout.splitlines()
    assert lines[0] == "  - ESt=1.250 for tolerance=-10." and lines[14] == "  - ESt=1.250 for tolerance=4."
    assert lines[-2].startswith("aggregated_speedup=1.2") and lines[-1] == f"Result is saved to {out}"


def test_both_forms_of_the_score_are_compared_unless_told_not_to(tmp_path):
    result = aggregate(LOGS / "one.log", tmp_path / "score.json")
    assert result.returncode == 0, result.stderr
    assert "t=-10: MATCHED  - Microscopic: 1.250000, Aggregated: 1.250000, Diff: 0.00e+00" in result.stdout
    assert "SUCCESS" in result.stdout
    assert "MATCHED" not in aggregate(LOGS / "one.log", tmp_path / "score.json", "--disable-aggregation-mode").stdout


def test_an_eager_failure_on_which_the_macro_form_contradicts_itself(tmp_path):
    out = tmp_path / "score.json"
    result = aggregate(LOGS / "mixed.log", out)
    assert result.returncode == 0 and "MISMATCH" in result.stdout, result.stdout
    compared = json.loads(out.read_text())
    aggregate(LOGS / "mixed.log", out, "--disable-aggregation-mode")
    assert json.loads(out.read_text()) == compared


def test_no_data_leaves_no_score_file_not_even_an_old_one(tmp_path):
    log, out = tmp_path / "validation.log", tmp_path / "score.json"
    log.write_text("nothing of use\n")
    out.write_text("{}")
    result = aggregate(log, out)
    assert result.returncode == 1 and "No valid data found. Exiting." in result.stdout
    assert not out.exists()


def test_weights_of_a_file_that_computes_them(tmp_path):
    weights = tmp_path / "weights.py"
    weights.write_text(
        "import math\ndef get_weights():\n    return {t: math.floor(t / 4) if t == 4 else 0.0 for t in range(-10, 5)}\n"
    )
    out = tmp_path / "score.json"
    result = aggregate(LOGS / "mixed.log", out, PASSNET_CUSTOM_WEIGHT_FUNC_PATH=str(weights))
    assert result.returncode == 0, result.stderr
    assert json.loads(out.read_text())["score"] == pytest.approx((2 * 0.1) ** 0.25, abs=1e-9)


@pytest.mark.parametrize("arguments", [["--fpdb", "x"], ["--positive-tolerance-interpretation", "other"]])
def test_flags_that_mean_nothing(tmp_path, arguments):
    assert aggregate(LOGS / "one.log", tmp_path / "score.json", *arguments).returncode == 2


def test_a_log_that_is_not_there(tmp_path):
    result = aggregate(tmp_path / "absent.log", tmp_path / "score.json")
    assert result.returncode == 2 and "absent.log" in result.stderr


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="../shared is not here")
def test_golden_logs(tmp_path):
    compared = 0
    for log in sorted((GOLDEN / "logs").glob("*.log")):
        numbers = json.loads((GOLDEN / "numbers" / f"{log.stem}.json").read_text())
        expected = [
            entry.get("passnet_aggregated_score_by_formula")
            for entry in numbers.get("scores") or []
            if entry.get("interpretation") == "default_passnet" and entry.get("p") == 0 and entry.get("b") == 0.1
        ]
        if not expected or not isinstance(expected[0], float) or log.name.startswith("23_"):
            continue
        out = tmp_path / "score.json"
        result = aggregate(log, out, "--disable-aggregation-mode")
        assert result.returncode == 0, (log.name, result.stderr)
        assert json.loads(out.read_text())["score"] == pytest.approx(expected[0], abs=1e-9), log.name
        compared += 1
    assert compared >= 15
