#!/usr/bin/env python3
"""Runs every benchmark below benchmarks/: each prints a ratio beside a rival measured in the same run.

  --only X   only the scripts whose name contains X
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    failed = []
    for script in sorted((ROOT / "benchmarks").glob("*.py")):
        if options.only not in script.name:
            continue
        print(f"== {script.name}", flush=True)
        if subprocess.run([sys.executable, str(script)], cwd=ROOT).returncode != 0:
            failed.append(script.name)
    if failed:
        print(f"bench: failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
