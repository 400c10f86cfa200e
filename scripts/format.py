#!/usr/bin/env python3
"""Formats the project's sources: clang-format for C++, ruff for Python.

--check    changes nothing; exit code 1 and the files' names when some are not in format
"""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What the configuration in .clang-format was written for; other versions lay some lines out differently.
CLANG_FORMAT_VERSION = "14."


def tracked(*patterns: str) -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [name for name in listed.stdout.splitlines() if (ROOT / name).exists() and "/data/" not in name]


def main() -> int:
    check = "--check" in sys.argv[1:]
    program = shutil.which("clang-format-14") or shutil.which("clang-format")
    if program is None:
        print("format: clang-format 14 is missing; as root: apt-get install clang-format", file=sys.stderr)
        return 3
    version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    if f"version {CLANG_FORMAT_VERSION}" not in version:
        print(f"format: clang-format {CLANG_FORMAT_VERSION}x is needed, this is: {version.strip()}", file=sys.stderr)
        return 3
    code = 0
    cpp = tracked("*.h", "*.cpp")
    if cpp:
        code |= subprocess.run([program, *(["--dry-run", "-Werror"] if check else ["-i"]), *cpp], cwd=ROOT).returncode
    ruff = [sys.executable, "-m", "ruff"]
    python = tracked("*.py")
    if python:
        code |= subprocess.run([*ruff, "format", "-q", *(["--check"] if check else []), *python], cwd=ROOT).returncode
        code |= subprocess.run([*ruff, "check", "-q", *([] if check else ["--fix"]), *python], cwd=ROOT).returncode
    if check:
        print("format: every source is in format" if code == 0 else "format: `make format` puts the files above in format")
    return 1 if code else 0


if __name__ == "__main__":
    sys.exit(main())
