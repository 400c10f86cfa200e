#!/usr/bin/env python3
"""Runs every fuzzer of tests/fuzz under AddressSanitizer and UndefinedBehaviorSanitizer, each for a bounded time.

Needs clang with libFuzzer, which root gets installed (Debian: clang, libclang-rt-14-dev). A finding is kept in
build/fuzz/findings/<fuzzer>/.

  --seconds N   how long each fuzzer runs (default 600)
  --only X      only the fuzzers whose name contains X
"""

from __future__ import annotations

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig

from build import configure_and_build
from setup import install_packages

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "fuzz"


def missing_packages() -> list[str]:
    missing = [] if shutil.which("clang++") else ["clang"]
    if not any(pathlib.Path("/usr/lib").glob("llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a")):
        missing.append("libclang-rt-14-dev")
    return missing


def seeds(folder: pathlib.Path) -> None:
    """CPython's own test files, cut to what a fuzzer can mutate quickly."""
    folder.mkdir(parents=True, exist_ok=True)
    standard_library = pathlib.Path(sysconfig.get_path("stdlib"))
    for path in sorted(standard_library.glob("test/test_*.py")) + sorted(standard_library.glob("*.py")):
        if path.stat().st_size < 8192:
            shutil.copy(path, folder / path.name)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    install_packages(missing_packages)
    configure_and_build("fuzz", BUILD, [])
    seeds(BUILD / "seeds")
    code = 0
    for program in sorted(BUILD.glob("fuzz_*")):
        if not os.access(program, os.X_OK) or not program.is_file() or options.only not in program.name:
            continue
        corpus = BUILD / "corpus" / program.name
        corpus.mkdir(parents=True, exist_ok=True)
        findings = BUILD / "findings" / program.name
        findings.mkdir(parents=True, exist_ok=True)
        command = [
            str(program), f"-max_total_time={options.seconds}", "-timeout=10", "-rss_limit_mb=4096", "-max_len=8192",
            "-verbosity=0", "-print_final_stats=1", f"-artifact_prefix={findings}/", str(corpus), str(BUILD / "seeds"),
        ]  # fmt: skip
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        runs = [line.split()[-1] for line in result.stdout.splitlines() if "number_of_executed_units" in line]
        if result.returncode != 0:
            print(result.stdout[-8000:])
            code = 1
        word = "no finding" if result.returncode == 0 else f"FINDING in {findings.relative_to(ROOT)}"
        print(f"{program.name}: {runs[0] if runs else '?'} inputs in {options.seconds} s, {word}", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
