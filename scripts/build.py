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


def cached(folder: pathlib.Path) -> dict[str, str]:
    """The variables in CMake's cache of a build folder; empty when it was never configured."""
    try:
        text = (folder / "CMakeCache.txt").read_text()
    except FileNotFoundError:
        return {}
    entries = (line.split("=", 1) for line in text.splitlines() if "=" in line and line[0] not in "#/")
    return {name.split(":")[0]: value for name, value in entries}


def configure_and_build(preset: str, folder: pathlib.Path, targets: list[str], definitions: list[str] = ()) -> None:
    """Runs cmake quietly: its output is shown only when it fails."""
    steps = []
    known = cached(folder)
    moved = known.get("CMAKE_HOME_DIRECTORY", str(ROOT)) != str(ROOT)  # the clone lies elsewhere now
    wanted = dict(definition.removeprefix("-D").split("=", 1) for definition in definitions)
    # Tests are off in a folder that `pip install .` made.
    if preset == "release":
        wanted["GRAFT_TESTS"] = "ON"
    current = all(known.get(name) == value for name, value in wanted.items())
    if moved or not current or not (folder / "build.ninja").exists():
        steps.append(["cmake", "--preset", preset, *(["--fresh"] if moved else []), *definitions])
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
