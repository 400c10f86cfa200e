"""Passes over subgraphs of public models: evaluated right one by one, and one of them broken in three ways.

The records lie outside the repository; without them the tests are skipped.
"""

import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("GRAFT_PROGRAM", str(ROOT / "build" / "graft"))
RECORDS = ROOT.parent / "shared" / "data" / "subgraphs.jsonl"
PASSES = pathlib.Path(__file__).parent / "data" / "passes"

# pass -> the record it is for; each from another model.
SUBGRAPHS = {
    "gelu_tanh": "transformers-auto-model/sentence-transformers/paraphrase-albert-base-v2/sub_1",
    "batch_norm_leaky_relu_add": "timm/darknet17/sub_4",
    "permute_scale_add": "torchvision/convnext_tiny/sub_1",
    "layer_norm_48": "timm/mambaout_femto.in1k/sub_5",
    "batch_norm_add_relu": "mmseg/DeepLabV3+_R18/sub_1",
}

pytestmark = pytest.mark.skipif(not RECORDS.exists(), reason="../shared/data/subgraphs.jsonl is not here")


def graft(*arguments: str | os.PathLike[str]) -> subprocess.CompletedProcess:
    command = [PROGRAM, "--json", "-q", *(str(argument) for argument in arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=250)


@pytest.fixture(scope="module")
def samples(tmp_path_factory) -> dict[str, pathlib.Path]:
    folder = tmp_path_factory.mktemp("samples")
    only = [word for record in SUBGRAPHS.values() for word in ("--only", record)]
    result = graft("bench", "unpack", RECORDS, folder / "unpacked", *only)
    assert result.returncode == 0, result.stderr
    return {entry["name"]: pathlib.Path(entry["path"]) for entry in json.loads(result.stdout)["samples"]}


def evaluate(sample: pathlib.Path, text: str, name: str, folder: pathlib.Path) -> tuple[int, dict]:
    passes = folder / "pass_dir"
    passes.mkdir()
    (passes / f"{name}.py").write_text(text)
    (passes / "sorted_output_pass_rule_names.json").write_text(json.dumps([name]))
    result = graft(
        "bench", "run", sample, "--pass-dir", passes, "--warmup", "3", "--trials", "10", "--out", folder / "out"
    )  # fmt: skip
    assert result.stdout, result.stderr
    return result.returncode, json.loads(result.stdout)["samples"][0]


@pytest.mark.parametrize("name", SUBGRAPHS)
def test_pass_is_right(name, samples, tmp_path):
    code, sample = evaluate(samples[SUBGRAPHS[name]], (PASSES / f"{name}.py").read_text(), name, tmp_path)
    graph = sample["graphs"][0]
    assert sample["matched"] is True
    assert graph["status"] == "correct"
    assert graph["correct_from"] <= -5
    assert sample["verdict"] in ("faster", "slower", "noisy")
    assert graph["speedup"]["e2e"] > 0
    assert code == 0


# What is broken -> (text, what stands there instead, the verdict).
BROKEN = {
    "no match": ("0.044715 * cube", "0.044725 * cube", "no_match"),
    "wrong numbers": ("0.5f * v * (1.0f", "0.5f * v * (1.1f", "wrong"),
    "crash": ("_kernel(x, out, x.numel())", "_kernel(x, out, 1 << 40)", "crashed"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_pass_gets_its_own_verdict(kind, samples, tmp_path):
    good, bad, verdict = BROKEN[kind]
    text = (PASSES / "gelu_tanh.py").read_text()
    assert good in text
    code, sample = evaluate(samples[SUBGRAPHS["gelu_tanh"]], text.replace(good, bad), "gelu_tanh", tmp_path)
    assert sample["verdict"] == verdict
    assert code == 1
