#!/usr/bin/env python3
"""Configures and builds Graft in build/ and makes the package importable in .venv.

--tests    builds the C++ tests too
"""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys
import sysconfig

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"


def configure_and_build(preset: str, folder: pathlib.Path, targets: list[str], definitions: list[str] = ()) -> None:
    """Runs cmake quietly: its output is shown only when it fails."""
    steps = []
    if not (folder / "build.ninja").exists() or definitions:
        steps.append(["cmake", "--preset", preset, *definitions])
    steps.append(["cmake", "--build", str(folder), *(["--target", *targets] if targets else [])])
    for step in steps:
        process = subprocess.Popen(step, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        lines = []
        for line in process.stdout:
            lines.append(line)
            if sys.stderr.isatty() and line.startswith("["):
                print(f"\r\x1b[K{line.rstrip()[:100]}", end="", file=sys.stderr, flush=True)
        if sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
        if process.wait() != 0:
            sys.stderr.write("".join(lines))
            sys.exit(f"build: `{' '.join(step)}` failed")


def make_importable() -> None:
    """Puts build/python (the extension, and links to the package's sources) on the path of .venv."""
    site = pathlib.Path(sysconfig.get_path("purelib"))
    # A relative line is read from the folder the file is in.
    (site / "graft-dev.pth").write_text(f"{os.path.relpath(BUILD / 'python', site)}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tests", action="store_true")
    options = parser.parse_args()
    definitions = [f"-DGRAFT_PYTHON_EXECUTABLE={sys.executable}"]
    configure_and_build("release", BUILD, [] if options.tests else ["graft_program", "graft_core"], definitions)
    make_importable()


if __name__ == "__main__":
    main()
