"""scripts/device_bundle.py: what it refuses, and that the bundle works under every Python of this machine."""

import glob
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = pathlib.Path(os.environ.get("GRAFT_PROGRAM", ROOT / "build" / "graft"))
sys.path.insert(0, str(ROOT / "scripts"))

import device_bundle  # noqa: E402


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    if not (PROGRAM.parent / "python" / "graft" / "_core.abi3.so").exists():
        pytest.skip("program and extension are not built")
    out = tmp_path_factory.mktemp("bundle") / "device-bundle"
    script = ROOT / "scripts" / "device_bundle.py"
    made = subprocess.run([sys.executable, script, "--build", PROGRAM.parent, "--out", out], capture_output=True, text=True)
    if made.returncode == 3:
        pytest.skip(made.stderr.strip())
    assert made.returncode == 0, made.stderr
    return out


def interpreters():
    """One interpreter of each minor version on the PATH or in pyenv."""
    found = {}
    patterns = [*(shutil.which(f"python3.{minor}") or "" for minor in range(10, 14))]
    patterns += sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.1[0-3]*/bin/python3")))
    for path in filter(None, [*patterns, sys.executable]):
        asked = subprocess.run([path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True)
        if asked.returncode == 0:
            found.setdefault(asked.stdout.strip(), path)
    return found


def test_the_package_works_under_every_python_from_any_folder(bundle, tmp_path):
    moved = tmp_path / "elsewhere"
    shutil.copytree(bundle, moved)
    tried = 0
    for version, python in interpreters().items():
        if version not in device_bundle.PYTHONS:
            continue
        program = "import graft; print(graft.__file__, graft.kernels.cpp('int f(int a) { return a + 1; }').functions)"
        done = subprocess.run(
            [python, "-c", program], capture_output=True, text=True, cwd="/", env={"PYTHONPATH": f"{moved}/python"}
        )
        assert done.returncode == 0, f"{version}: {done.stderr}"
        assert done.stdout.startswith(str(moved))
        tried += 1
    assert tried >= 1


def test_the_program_finds_the_package_beside_it(bundle):
    environment = {
        "GRAFT_PYTHON": sys.executable,
        "PATH": "/usr/bin:/bin",
        "HOME": str(bundle),
        "GRAFT_CACHE": str(bundle / "cache"),
    }
    done = subprocess.run([bundle / "bin" / "graft", "--version"], capture_output=True, text=True, cwd="/", env=environment)
    assert done.returncode == 0 and done.stdout.startswith("graft ")
    shell = f'. {bundle}/env.sh; command -v graft; "{sys.executable}" -c "import graft; print(graft.__file__)"'
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, cwd="/", env=environment)
    assert done.stdout.split() == [f"{bundle}/bin/graft", f"{bundle}/python/graft/__init__.py"]


def test_nothing_of_the_build_machine_is_in_the_bundle(bundle):
    for path in bundle.rglob("*"):
        if path.is_file() and "nanobind_backend" not in str(path):
            assert str(ROOT).encode() not in path.read_bytes(), path


def test_a_file_that_needs_more_is_reported(tmp_path):
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("no g++")
    (tmp_path / "dep.cpp").write_text('extern "C" int dep() { return 1; }')
    (tmp_path / "use.cpp").write_text('extern "C" int dep(); extern "C" int use() { return dep(); }')

    def build(*words):
        subprocess.run([compiler, "-shared", "-fPIC", *words], cwd=tmp_path, check=True)

    build("dep.cpp", "-o", "libdep.so")
    build("use.cpp", "-L.", "-ldep", "-Wl,-rpath,/somewhere", "-o", "libuse.so")
    assert device_bundle.violations(tmp_path / "libdep.so") == []
    assert device_bundle.violations(tmp_path / "libuse.so") == ["needs libdep.so", "has the run path /somewhere"]

    # A library that claims to need a symbol of a newer C library than the limit.
    (tmp_path / "new.map").write_text("GLIBC_2.99 { global: fresh; };\n")
    (tmp_path / "new.cpp").write_text('extern "C" int fresh() { return 1; }')
    build("new.cpp", "-Wl,--version-script,new.map", "-Wl,-soname,libc.so.6", "-o", "libnew.so")
    (tmp_path / "old.cpp").write_text('extern "C" int fresh(); extern "C" int use() { return fresh(); }')
    build("old.cpp", "./libnew.so", "-o", "libold.so")
    assert device_bundle.violations(tmp_path / "libold.so") == ["needs GLIBC_2.99"]
