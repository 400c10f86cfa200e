#!/usr/bin/env python3
"""Runs every benchmark below benchmarks/: the scripts, each of which prints a ratio beside a rival measured in the same run,
and the C++ programs, built where Google Benchmark is installed (Debian: libbenchmark-dev).

  --only X   only the benchmarks whose name contains X
"""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys

from build import BUILD, configure_and_build

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADER = pathlib.Path("/usr/include/benchmark/benchmark.h")


def programs() -> list[pathlib.Path]:
    """The C++ benchmarks, built in build/."""
    rooms = sorted(folder.name for folder in (ROOT / "benchmarks").iterdir() if any(folder.glob("*.cpp")))
    if not HEADER.exists():
        print(f"bench: Google Benchmark is not installed: {', '.join(rooms)} left out", file=sys.stderr)
        return []
    configure_and_build("release", BUILD, [f"bench_{room}" for room in rooms], ["-DGRAFT_BENCHMARKS=ON"])
    return [BUILD / f"bench_{room}" for room in rooms]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    commands = {path.name: [sys.executable, str(path)] for path in sorted((ROOT / "benchmarks").glob("*.py"))}
    commands |= {path.name: [str(path)] for path in programs()}
    failed = []
    for name, command in commands.items():
        if options.only not in name:
            continue
        print(f"== {name}", flush=True)
        if subprocess.run(command, cwd=ROOT, env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1")).returncode != 0:
            failed.append(name)
    if failed:
        print(f"bench: failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
