"""graft bench score and bench unpack as a user calls them: output, JSON, exit codes."""

import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = pathlib.Path(os.environ.get("GRAFT_PROGRAM", ROOT / "build" / "graft"))
LOGS = ROOT / "tests" / "bench" / "data"

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not built")


def graft(*arguments, **variables):
    environment = {k: v for k, v in os.environ.items() if k != "PASSNET_CUSTOM_WEIGHT_FUNC_PATH"}
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=60, env={**environment, **variables})


def curves(*arguments, **variables):
    result = graft("--json", "bench", "score", *arguments, **variables)
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    assert next(iter(document)) == "schema"
    return {curve["name"]: curve for curve in document["curves"]}


def test_json_has_the_promised_keys():
    found = curves(LOGS)
    assert list(found) == ["mixed", "one"]
    mixed = found["mixed"]
    assert [s["status"] for s in mixed["samples"]] == ["correct", "compile_fail", "runtime_fail", "eager_fail"]
    assert mixed["samples"][0] == {"graph": "graphs/fast", "status": "correct", "speedup": 2.0, "correct_from": -5}
    assert list(mixed["s"]) == list(mixed["es"]) == [str(t) for t in range(-10, 5)]
    assert mixed["es"]["-5"] == pytest.approx((2 * 0.001) ** 0.25, abs=1e-12)
    assert mixed["incorrect"]["3"] == ["graphs/dead"]
    assert found["one"]["score"] == pytest.approx(1.25, abs=1e-12)


def test_options_change_the_score():
    log = LOGS / "mixed.log"
    assert curves(log, "--base", "0.001")["mixed"]["es"]["-10"] == pytest.approx(0.001, abs=1e-12)
    extended = curves(log, "--interpretation", "mismatch_extended")["mixed"]
    assert extended["score"] is None and "5" in extended["es"]
    tolerant = curves(log, "--tolerate-eager-fail")["mixed"]
    assert tolerant["es"]["3"] == pytest.approx(2**0.25, abs=1e-12)


def test_weights_from_a_python_file(tmp_path):
    weights = tmp_path / "w.py"
    weights.write_text("def get_weights():\n    return {%s}\n" % ", ".join(f"{t}: {float(t == 4)}" for t in range(-10, 5)))
    by_option = curves(LOGS / "mixed.log", "--weights", weights)["mixed"]
    assert by_option["score"] == pytest.approx(by_option["es"]["4"], abs=1e-12)
    by_variable = curves(LOGS / "mixed.log", PASSNET_CUSTOM_WEIGHT_FUNC_PATH=str(weights))["mixed"]
    assert by_variable["score"] == by_option["score"]


def test_no_data_is_a_no():
    result = graft("bench", "score", LOGS / "noise.txt")
    assert result.returncode == 1
    assert "no valid data" in result.stderr


def test_errors_have_their_place(tmp_path):
    log = tmp_path / "x.log"
    text = (LOGS / "one.log").read_text()
    log.write_text("\n".join(line for line in text.splitlines() if "[Speedup]" not in line))
    result = graft("bench", "score", log)
    assert result.returncode == 2
    assert f"{log}:1:" in result.stderr and "no e2e speed-up" in result.stderr
    assert graft("bench", "score", tmp_path / "absent.log").returncode == 2
    assert graft("bench", "score", log, "--base", "0").returncode == 2
    assert graft("bench", "score", log, "--interpretation", "other").returncode == 2


def test_table_for_people():
    result = graft("bench", "score", LOGS / "one.log")
    assert result.returncode == 0
    assert "one (1 graphs)" in result.stdout and "score 1.250000" in result.stdout


def test_unpack(tmp_path):
    record = {"name": "m/a", "model.py": "m", "weight_meta.py": "w", "input_meta.py": "", "graph_net.json": "{}"}
    source = tmp_path / "in.jsonl"
    source.write_text(json.dumps(record) + "\n")
    out = tmp_path / "out"
    result = graft("--json", "bench", "unpack", source, out)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["samples"] == [{"name": "m/a", "path": f"{out}/m__a"}]
    assert (out / "m__a" / "graphs" / "m__a" / "model.py").read_text() == "m"
    again = graft("bench", "unpack", source, out)
    assert again.returncode == 2 and "exists" in again.stderr
    assert graft("bench", "unpack", source, out, "--force").returncode == 0
    source.write_text('{"name": "a",\n')
    broken = graft("bench", "unpack", source, tmp_path / "none")
    assert broken.returncode == 2 and f"{source}:1:" in broken.stderr
    assert not (tmp_path / "none").exists()
    script = (out / "m__a" / "entry.sh").read_text()
    assert subprocess.run(["bash", "-n"], input=script, text=True).returncode == 0


def test_unpacked_script_runs_the_evaluator(tmp_path):
    """The script finds the package beside its real folder and hands it the flags of PassBench."""
    record = {"name": "a", "model.py": "m", "weight_meta.py": "w", "graph_net.json": "{}"}
    source = tmp_path / "in.jsonl"
    source.write_text(json.dumps(record) + "\n")
    assert graft("bench", "unpack", source, tmp_path / "tree").returncode == 0
    package = tmp_path / "tree" / "pass_bench"
    (package / "torch").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "torch" / "__init__.py").write_text("")
    (package / "torch" / "test_compiler.py").write_text(
        "import base64, json, sys\n"
        "arguments = dict(zip(sys.argv[1::2], sys.argv[2::2]))\n"
        "config = json.loads(base64.b64decode(arguments.pop('--config')))\n"
        "open(config['pass_match_result_file_path'], 'w').write('False')\n"
        "config.pop('pass_match_result_file_path')\n"
        "print(json.dumps([arguments, config]), file=sys.stderr)\n"
    )
    (package / "aggregate_es_scores.py").write_text("import json, sys\nprint(json.dumps(sys.argv[1:]))\nsys.exit(7)\n")
    workspace = tmp_path / "work space"
    result = subprocess.run(
        ["bash", "a/entry.sh"],
        cwd=tmp_path / "tree",
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PASS_BENCH_WORKSPACE": str(workspace), "PYTHONPATH": ""},
    )
    assert result.returncode == 7, result.stderr
    arguments, config = json.loads((workspace / "validation.log").read_text())
    assert arguments == {
        "--model-path-prefix": "a", "--allow-list": "a/graph_list.txt", "--compiler": "pass_mgr", "--device": "cuda",
        "--warmup": "25", "--trials": "100",
    }  # fmt: skip
    assert config == {
        "input_pass_rule_dir": "a/const_pass_dir", "output_pass_rule_dir": "a/pass_dir",
        "output_pass_pattern_limit": 100, "output_pass_replacement_func_limit": 1,
    }  # fmt: skip
    assert "Has Any pass matched? [False]\nPass testing early exits on pass mismatch.\n" in result.stdout
    scoring = json.loads(result.stdout.splitlines()[-1])
    assert scoring == [
        "--benchmark-path", f"{workspace}/validation.log", "--sample-id", "1", "--disable-aggregation-mode",
        "--fpdb", "0.1", "--output-json-file-path", f"{workspace}/aggregated_score.json",
    ]  # fmt: skip
