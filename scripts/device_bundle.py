#!/usr/bin/env python3
"""Makes build/device-bundle: program and package for a machine that has glibc, libstdc++ and a Python, and nothing of ours.

--build DIR    the build folder to take the program and the extension from (default: build)
--out DIR      the bundle's folder (default: build/device-bundle); replaced

Every ELF file of the bundle is checked: it may need only the C and C++ run-time libraries, and of them only symbol versions
up to GLIBC_2.35, GLIBCXX_3.4.30 and CXXABI_1.3.13. Exit codes: 0 made, 1 a file does not keep to that or the bundle is too
large, 3 something is missing.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

from setup import cache_folder

ROOT = pathlib.Path(__file__).resolve().parent.parent

LIBRARIES = {
    "libc.so.6",
    "libm.so.6",
    "libdl.so.2",
    "librt.so.1",
    "libpthread.so.0",
    "libgcc_s.so.1",
    "libstdc++.so.6",
    "ld-linux-x86-64.so.2",
    "ld-linux-aarch64.so.1",
}
NEWEST = {"GLIBC": (2, 35), "GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13), "GCC": (12, 0, 0)}
MAX_BYTES = 60 << 20  # what travels to a device machine is 64 MiB, the sources included
# nanobind-backend is compiled once for each minor version of Python.
PYTHONS = ["3.10", "3.11", "3.12", "3.13"]
PYTHONS_NEEDED = {"3.12"}

README = """\
Graft for a machine without our build: program, Python package and samples.

  bin/graft doctor                 what the machine can do
  . ./env.sh                       puts graft on PATH and PYTHONPATH of this shell
  python3 -c 'import graft'        after that, with any Python from 3.10 on

The program starts its workers with $GRAFT_PYTHON, else with python3 on the PATH. The folder may lie anywhere.
"""

ENV = """\
# Source this file: it makes `graft` and `import graft` work in this shell.
if [ -n "${BASH_SOURCE:-}" ]; then graft_bundle=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
else graft_bundle=${GRAFT_BUNDLE:-$PWD}; fi
export PATH="$graft_bundle/bin:$PATH"
export PYTHONPATH="$graft_bundle/python${PYTHONPATH:+:$PYTHONPATH}"
unset graft_bundle
"""


def fail(code: int, message: str) -> None:
    print(f"device-bundle: {message}", file=sys.stderr)
    sys.exit(code)


def is_elf(path: pathlib.Path) -> bool:
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def violations(path: pathlib.Path) -> list[str]:
    """What the ELF file needs beyond the allowed libraries and symbol versions."""
    found = []
    dynamic = subprocess.run(["readelf", "-dW", path], capture_output=True, text=True, check=True).stdout
    for library in re.findall(r"\(NEEDED\).*\[(.+?)\]", dynamic):
        if library not in LIBRARIES:
            found.append(f"needs {library}")
    for runpath in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.+?)\]", dynamic):
        found.append(f"has the run path {runpath}")
    versions = subprocess.run(["readelf", "-VW", path], capture_output=True, text=True, check=True).stdout
    for name in sorted(set(re.findall(r"Name: (\S+)", versions))):
        match = re.fullmatch(r"([A-Z]+)_([0-9.]+)", name)
        if match is None or match[1] not in NEWEST:
            # A definition of the file's own, or a name that is no version (GLIBC_PRIVATE, GLIBC_ABI_DT_RELR).
            if name.startswith("GLIBC_"):
                found.append(f"needs {name}")
            continue
        if tuple(int(part) for part in match[2].split(".")) > NEWEST[match[1]]:
            found.append(f"needs {name}")
    return found


def strip(path: pathlib.Path) -> None:
    subprocess.run(["strip", "--strip-unneeded", path], check=True)


def backend_version() -> str:
    for line in (ROOT / "requirements-dev.txt").read_text().splitlines():
        if line.startswith("nanobind-backend=="):
            return line.split("==")[1].strip()
    fail(3, "requirements-dev.txt names no version of nanobind-backend")


def add_backends(target: pathlib.Path) -> list[str]:
    """Unpacks nanobind-backend for every Python there is a wheel for; the wheels are kept in the cache."""
    version, cache, present = backend_version(), cache_folder() / "wheels", []
    cache.mkdir(parents=True, exist_ok=True)
    for python in PYTHONS:
        tag = "cp" + python.replace(".", "")
        pattern = f"nanobind_backend-{version}-{tag}-{tag}-*.whl"
        if not list(cache.glob(pattern)):
            subprocess.run(
                [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:",
                 "--python-version", python, "--implementation", "cp", "--platform", "manylinux_2_28_x86_64",
                 "--platform", "manylinux_2_27_x86_64", "-d", cache, f"nanobind-backend=={version}"],
                stdout=subprocess.DEVNULL,
            )  # fmt: skip
        wheels = list(cache.glob(pattern))
        if not wheels:
            if python in PYTHONS_NEEDED:
                fail(3, f"no wheel of nanobind-backend {version} for Python {python}: neither in {cache} nor from the index")
            continue
        with zipfile.ZipFile(wheels[0]) as archive:
            for member in archive.namelist():
                if member.startswith("nanobind_backend/"):
                    archive.extract(member, target)
        present.append(python)
    return present


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "device-bundle")
    options = parser.parse_args()
    program = options.build / "graft"
    extension = options.build / "python" / "graft" / "_core.abi3.so"
    for needed in (program, extension):
        if not needed.exists():
            fail(3, f"{needed} is missing: `make build` first")
    for tool in ("readelf", "strip"):
        if shutil.which(tool) is None:
            fail(3, f"{tool} is missing: apt-get install binutils")

    # Made beside its place and renamed, so that a failure leaves no half bundle.
    partial = options.out.with_name(options.out.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    (partial / "bin").mkdir(parents=True)
    shutil.copy2(program, partial / "bin" / "graft")
    ignore = shutil.ignore_patterns("__pycache__", "*.pyc", "_core*")
    shutil.copytree(ROOT / "python" / "graft", partial / "python" / "graft", ignore=ignore)
    shutil.copy2(extension, partial / "python" / "graft" / "_core.abi3.so")
    pythons = add_backends(partial / "python")
    if (ROOT / "samples").is_dir():
        shutil.copytree(ROOT / "samples", partial / "samples", ignore=shutil.ignore_patterns("__pycache__"))
    (partial / "README").write_text(README)
    (partial / "env.sh").write_text(ENV)

    wrong = 0
    elf_files = [path for path in sorted(partial.rglob("*")) if path.is_file() and is_elf(path)]
    for path in elf_files:
        strip(path)
        for violation in violations(path):
            print(f"device-bundle: {path.relative_to(partial)} {violation}", file=sys.stderr)
            wrong += 1
    size = sum(path.stat().st_size for path in partial.rglob("*") if path.is_file())
    if size > MAX_BYTES:
        print(f"device-bundle: {size / 2**20:.1f} MiB, more than {MAX_BYTES >> 20}", file=sys.stderr)
        wrong += 1
    if wrong:
        sys.exit(1)
    shutil.rmtree(options.out, ignore_errors=True)
    partial.rename(options.out)
    print(
        f"device-bundle: {options.out} ({size / 2**20:.1f} MiB, {len(elf_files)} ELF files checked, "
        f"for Python {', '.join(pythons)})"
    )


if __name__ == "__main__":
    main()
