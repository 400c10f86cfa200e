"""Finds and runs the program `graft`."""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig


class EngineError(Exception):
    """graft did not answer. `code` is the exit code to end with."""

    def __init__(self, message: str, code: int):
        super().__init__(message)
        self.code = code


def find_program() -> str:
    """$GRAFT_PROGRAM, the build folder of the clone this file lies in, the scripts of this Python, the PATH."""
    if chosen := os.environ.get("GRAFT_PROGRAM"):
        return chosen
    clone = pathlib.Path(__file__).resolve().parent.parent.parent
    for candidate in (clone / "build" / "graft", pathlib.Path(sysconfig.get_path("scripts")) / "graft"):
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return str(candidate)
    if found := shutil.which("graft"):
        return found
    raise EngineError("the program graft is not found: build it (`make build`), or name it in $GRAFT_PROGRAM", 3)


def environment() -> dict[str, str]:
    """This process's, with this Python as the one that runs graphs if it can."""
    variables = dict(os.environ)
    able = all(importlib.util.find_spec(name) for name in ("torch", "nanobind_backend"))
    if able and "GRAFT_PYTHON" not in variables:
        variables["GRAFT_PYTHON"] = sys.executable
    return variables


def ask(arguments: list[str]) -> tuple[int, dict]:
    """Runs `graft --json ARGUMENTS` and returns its exit code and document; its words go to stderr, made harmless.

    Whoever reads our output as a log looks for brackets and for "Error:": words for people must not look like those.
    """
    command = [find_program(), "--json", *arguments]
    try:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", env=environment()
        )
    except OSError as error:
        raise EngineError(f"{command[0]} cannot be run: {error.strerror}", 3) from error
    with process:
        import threading

        words = threading.Thread(target=_pass_on, args=(process.stderr,), daemon=True)
        words.start()
        try:
            output = process.stdout.read()
            code = process.wait()
        except KeyboardInterrupt:
            process.wait()  # it got the same signal and keeps what is finished
            raise EngineError("interrupted", 130) from None
        words.join()
    try:
        return code, json.loads(output) if output.strip() else {}
    except ValueError as error:
        raise EngineError(f"graft printed something that is no JSON: {error}", 4) from error


def _pass_on(stream) -> None:
    for line in stream:
        print(harmless(line.rstrip("\n")), file=sys.stderr, flush=True)


def harmless(text: str) -> str:
    text = text.replace("[", "(").replace("]", ")").replace("all_close", "allclose")
    return (
        text.replace("Error:", "Error -").replace("Exception:", "Exception -").replace("No passes modified", "no passes modified")
    )
