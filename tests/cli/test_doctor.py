"""graft doctor: what it prints, and its exit codes."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = pathlib.Path(os.environ.get("GRAFT_PROGRAM", ROOT / "build" / "graft"))

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not built")


def doctor(*arguments, **variables):
    return subprocess.run(
        [PROGRAM, "doctor", *arguments], capture_output=True, text=True, timeout=200, env={**os.environ, **variables}
    )


def checks_of(result):
    document = json.loads(result.stdout)
    assert next(iter(document)) == "schema"
    return {check["name"]: check for check in document["checks"]}


def test_names_every_piece_once():
    result = doctor("--json", GRAFT_PYTHON=sys.executable)
    checks = checks_of(result)
    for name in ("graft", "cpu", "python", "package", "torch", "triton", "gpu", "cxx", "nvcc", "user_namespaces", "landlock",
                 "seccomp", "bubblewrap", "docker", "podman", "cache"):  # fmt: skip
        assert name in checks
        assert checks[name]["value"], name
        assert checks[name]["ok"] or checks[name]["hint"], name
    assert checks["python"]["value"].startswith(sys.version.split()[0])
    needed = [check for check in checks.values() if check["needed"]]
    assert {"python", "package", "torch", "cache"} == {check["name"] for check in needed}
    assert result.returncode == (0 if all(check["ok"] for check in needed) else 3)


def test_lines_for_people_say_the_same():
    lines = doctor(GRAFT_PYTHON=sys.executable).stdout.splitlines()
    assert any(line.split()[1] == "torch" for line in lines)
    assert lines[-1].startswith(("ready", "not ready"))


def test_a_python_without_the_pieces_is_exit_code_3(tmp_path):
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec "{getattr(sys, "_base_executable", sys.executable)}" -S -E "$@"\n')
    bare.chmod(0o755)
    result = doctor("--json", GRAFT_PYTHON=str(bare))
    checks = checks_of(result)
    assert result.returncode == 3
    assert checks["python"]["ok"] and not checks["torch"]["ok"]
    assert "pip install torch" in checks["torch"]["hint"]


def test_a_python_that_does_not_answer_is_no_python(tmp_path):
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho broken >&2\nexit 9\n")
    broken.chmod(0o755)
    result = doctor("--json", GRAFT_PYTHON=str(broken))
    assert result.returncode == 3
    assert "broken" in checks_of(result)["python"]["value"]
    assert doctor("--json", GRAFT_PYTHON="/nowhere/python").returncode == 3


def test_a_cache_that_cannot_be_made_is_exit_code_3(tmp_path):
    (tmp_path / "file").write_text("")
    result = doctor("--json", GRAFT_PYTHON=sys.executable, GRAFT_CACHE=str(tmp_path / "file"))
    assert result.returncode == 3
    assert not checks_of(result)["cache"]["ok"]
