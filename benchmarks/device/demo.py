#!/usr/bin/env python3
"""The demo samples with their Triton passes on a GPU; prints a Markdown table for docs/benchmarks.md.

Runs inside a device bundle (`make device-bundle`) or a clone. Finished samples are kept in --out and not run again, so an
interrupted call goes on where it stopped.

  --program P   the program graft (default: bin/graft of the bundle this file lies in, or build/graft)
  --out DIR     where results are kept (default: $OUT, else graft_results/device)
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve()
ROOT = HERE.parents[2]


def versions() -> str:
    program = (
        "import torch, triton; print(f'{torch.cuda.get_device_name(0)}, torch {torch.__version__}, Triton {triton.__version__}, "
        "driver CUDA {torch.version.cuda}')"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    return result.stdout.strip() or result.stderr.strip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    bundled = ROOT / "bin" / "graft"
    parser.add_argument("--program", default=str(bundled if bundled.exists() else ROOT / "build" / "graft"))
    parser.add_argument("--out", default=os.environ.get("OUT") or str(ROOT / "graft_results" / "device"))
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    print(f"{datetime.date.today()}, {versions()}, Python {platform.python_version()}\n")
    print("| sample | verdict | correct from t | eager ms | pass ms | speed-up e2e | speed-up GPU | score |")
    print("|---|---|---|---|---|---|---|---|")
    for sample in sorted((ROOT / "samples").iterdir()):
        passes = sample / "triton_pass_dir"
        if not passes.is_dir():
            continue
        kept = out / f"{sample.name}.json"
        if not kept.exists():
            command = [options.program, "--json", "bench", "run", str(sample), "--device", options.device]
            command += ["--pass-dir", str(passes), "--out", f"/tmp/graft-device-{os.getpid()}-{sample.name}"]
            result = subprocess.run(command, capture_output=True, text=True)
            if result.returncode not in (0, 1):
                print(f"| {sample.name} | exit code {result.returncode}: {result.stderr.strip()[-500:]} |")
                continue
            kept.write_text(result.stdout)
        record = json.loads(kept.read_text())["samples"][0]
        graph = record["graphs"][0]
        speedup = graph.get("speedup") or {}

        def number(value: float | None) -> str:
            return "-" if value is None else f"{value:.3f}"

        print(
            f"| {record['name']} | {record['verdict']} | {graph['correct_from']} | {number(graph['eager_ms'])} | "
            f"{number(graph['pass_ms'])} | {number(speedup.get('e2e'))} | {number(speedup.get('gpu'))} | {number(record['score'])} |",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
