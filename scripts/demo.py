#!/usr/bin/env python3
"""The main job of Graft on the built-in samples: passes matched, checked at every tolerance and timed.

Runs `graft bench run` over samples/ on the CPU. Where Triton is installed, the Triton twins of the passes run in its
interpreter on small shapes: that checks their numbers; the times of an interpreter mean nothing. Exit code 0 when every
sample got the verdict it was made for.
"""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "build" / "graft"
# What each sample was made to show.
EXPECTED = {"rms_norm": "faster", "masked_softmax": "faster", "layer_norm_wrong": "wrong"}


def check_triton_twins() -> list[str]:
    """Returns what went otherwise than expected; prints one line a twin."""
    if importlib.util.find_spec("triton") is None:
        print("Triton is not installed: its passes are not checked")
        return []
    problems = []
    environment = dict(os.environ, TRITON_INTERPRET="1")
    print("\nTriton passes in the interpreter (numbers only, small shapes):")
    for name, expected in EXPECTED.items():
        sample = ROOT / "samples" / name
        with tempfile.TemporaryDirectory() as folder:
            command = [PROGRAM, "--json", "-q", "bench", "run", sample / "graphs" / f"{name}_small"]
            command += ["--pass-dir", sample / "triton_pass_dir", "--warmup", "0", "--trials", "3", "--out", folder]
            result = subprocess.run([str(word) for word in command], env=environment, capture_output=True, text=True, cwd=ROOT)
        if result.returncode not in (0, 1):
            print(result.stderr, file=sys.stderr)
            problems.append(f"{name} (Triton): exit code {result.returncode}")
            continue
        graph = json.loads(result.stdout)["samples"][0]
        right = graph["verdict"] in ("faster", "slower", "noisy")
        print(f"  {name:<20} {'right' if right else graph['verdict']:<8} from t = {graph['graphs'][0]['correct_from']}")
        if right != (expected != "wrong"):
            problems.append(f"{name} (Triton): {graph['verdict']}")
    return problems


def main() -> int:
    out = ROOT / "graft_results" / f"demo-{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}"
    samples = [str(ROOT / "samples" / name) for name in EXPECTED]
    code = subprocess.run([str(PROGRAM), "bench", "run", *samples, "--out", str(out)], cwd=ROOT).returncode
    if code not in (0, 1):
        return code
    document = json.loads((out / "result.json").read_text())
    problems = [
        f"{sample['name']}: {sample['verdict']}, expected {EXPECTED[sample['name']]}"
        for sample in document["samples"]
        if sample["verdict"] != EXPECTED[sample["name"]]
    ]
    problems += check_triton_twins()
    for problem in problems:
        print(f"demo: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
