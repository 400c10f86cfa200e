#!/usr/bin/env python3
"""Runs every test and ends with one line: "N passed, N failed" (", N skipped" where some were).

The C++ tests are the programs build/test_*, the Python tests everything below tests/ that pytest collects. Exit code 0 when
nothing failed and something ran, else 1.

  --long     also the checks marked `long`, and the C++ tests once more under AddressSanitizer and UndefinedBehaviorSanitizer
  --only X   only the C++ programs and Python folders whose name contains X
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Totals:
    def __init__(self) -> None:
        self.passed = 0
        self.failed = 0
        self.skipped = 0

    def add(self, name: str, passed: int, failed: int, skipped: int, seconds: float) -> None:
        self.passed += passed
        self.failed += failed
        self.skipped += skipped
        print(f"{name:<32} {passed:>6} passed {failed:>4} failed {skipped:>4} skipped {seconds:>8.1f} s", flush=True)


def run_bounded(command: list[str], limit: float, environment: dict[str, str] | None = None) -> tuple[int, str]:
    """Runs a command in a process group of its own; past `limit` seconds the whole group is killed."""
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace", start_new_session=True,
    )  # fmt: skip
    try:
        output, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        return -1, output + f"\nstopped after {limit:.0f} s\n"
    return process.returncode, output


def run_gtest(program: pathlib.Path, totals: Totals, label: str, limit: float) -> None:
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        code, output = run_bounded([str(program), "--gtest_brief=1", f"--gtest_output=json:{report}"], limit)
        seconds = time.monotonic() - started
        if not report.exists():
            print(output)
            totals.add(label, 0, 1, 0, seconds)
            return
        suites = json.loads(report.read_text())["testsuites"]
    tests = [test for suite in suites for test in suite["testsuite"]]
    skipped = [test for test in tests if test.get("result") == "SKIPPED"]
    failed = [test for test in tests if test.get("failures")]
    if failed or code != 0:
        print(output)
    for line in sorted({line for line in output.splitlines() if "skipped:" in line.lower()}):
        print(f"  {line.strip()}")
    # A crash after the last test still counts.
    extra = 1 if code != 0 and not failed else 0
    ran = [test for test in tests if test.get("status") == "RUN"]
    totals.add(label, len(ran) - len(failed) - len(skipped), len(failed) + extra, len(skipped), seconds)


def run_pytest(folder: pathlib.Path, totals: Totals, long: bool, limit: float) -> None:
    started = time.monotonic()
    label = f"pytest {folder.relative_to(ROOT)}"
    with tempfile.TemporaryDirectory() as temporary:
        report = pathlib.Path(temporary) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-rs", f"--junitxml={report}", str(folder)]
        if not long:
            command += ["-m", "not long"]
        environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
        if long:
            environment["GRAFT_LONG_TESTS"] = "1"
        code, output = run_bounded(command, limit, environment)
        seconds = time.monotonic() - started
        if not report.exists():
            print(output)
            totals.add(label, 0, 1, 0, seconds)
            return
        suite = ElementTree.parse(report).getroot().find("testsuite")
    counts = {key: int(suite.get(key)) for key in ("tests", "failures", "errors", "skipped")}
    failed = counts["failures"] + counts["errors"]
    if code not in (0, 5) and failed == 0:
        failed = 1
    if failed:
        print(output)
    for line in output.splitlines():
        if line.startswith("SKIPPED"):
            print(f"  {line}")
    totals.add(
        label, counts["tests"] - counts["failures"] - counts["errors"] - counts["skipped"], failed, counts["skipped"], seconds
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    limit = 7200.0 if options.long else 1800.0

    totals = Totals()
    for program in sorted((ROOT / "build").glob("test_*")):
        if program.is_file() and os.access(program, os.X_OK) and options.only in program.name:
            run_gtest(program, totals, program.name, limit)
    if options.long:
        from build import configure_and_build

        configure_and_build("asan", ROOT / "build" / "asan", [])
        for program in sorted((ROOT / "build" / "asan").glob("test_*")):
            if program.is_file() and os.access(program, os.X_OK) and options.only in program.name:
                run_gtest(program, totals, f"asan {program.name}", limit)
    for folder in sorted((ROOT / "tests").iterdir()):
        if folder.is_dir() and options.only in folder.name and any(folder.glob("test_*.py")):
            run_pytest(folder, totals, options.long, limit)
    line = f"{totals.passed} passed, {totals.failed} failed"
    if totals.skipped:
        line += f", {totals.skipped} skipped"
    print(line)
    return 0 if totals.failed == 0 and totals.passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
