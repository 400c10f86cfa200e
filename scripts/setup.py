#!/usr/bin/env python3
"""Brings a machine that has git, make and python3 to the state in which Graft builds and its tests run.

Installs missing Debian packages (as root; otherwise names them in one line and stops), makes .venv, and puts torch and
triton, pinned in requirements-torch.txt, into a cache outside the clone that every other clone finds again. A torch of the
pinned version that the base interpreter already has is used as it is.

Environment:
  GRAFT_CACHE        the cache folder (default: $XDG_CACHE_HOME/graft or ~/.cache/graft)
  GRAFT_BASE_PYTHON  the interpreter .venv is made from (default: the one that runs this script)
  GRAFT_NO_TORCH=1   leave torch out: everything in C++ builds and is tested without it

Exit codes: 0 ready, 3 something the machine lacks and this script could not bring.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / ".graft-setup"

# Debian package -> what proves that it is there: a program on the PATH or a file.
PACKAGES = {
    "g++": "g++",
    "cmake": "cmake",
    "ninja-build": "ninja",
    "ccache": "ccache",
    "mold": "mold",
    "clang-format": "clang-format",
    "binutils": "objdump",
    "libfmt-dev": "/usr/include/fmt/core.h",
    "libcli11-dev": "/usr/include/CLI/CLI.hpp",
    "libssl-dev": "/usr/include/openssl/evp.h",
    "libgtest-dev": "/usr/include/gtest/gtest.h",
    "libgmock-dev": "/usr/include/gmock/gmock.h",
    "libbenchmark-dev": "/usr/include/benchmark/benchmark.h",
}
OPTIONAL = {"mold", "ccache", "clang-format", "libbenchmark-dev"}  # the build does without them

# What an installed torch with its CUDA libraries takes, and what the download needs beside it.
TORCH_BYTES = 9 * 2**30


def fail(message: str) -> None:
    print(f"setup: {message}", file=sys.stderr)
    sys.exit(3)


def run(*command: str | os.PathLike[str], **variables: str) -> None:
    words = [str(word) for word in command]
    result = subprocess.run(words, stdin=subprocess.DEVNULL, env=dict(os.environ, **variables))
    if result.returncode != 0:
        fail(f"`{' '.join(str(word) for word in command)}` ended with exit code {result.returncode}")


def say(message: str) -> None:
    print(f"setup: {message}", file=sys.stderr, flush=True)


def missing_packages(base: str) -> list[str]:
    missing = []
    for package, proof in PACKAGES.items():
        there = os.path.exists(proof) if proof.startswith("/") else shutil.which(proof) is not None
        if not there:
            missing.append(package)
    has_venv = subprocess.run([base, "-c", "import venv, ensurepip"], capture_output=True).returncode == 0
    if not has_venv:
        missing.append("python3-venv")
    has_headers = subprocess.run(
        [base, "-c", "import sysconfig, os, sys; sys.exit(not os.path.exists(sysconfig.get_path('include') + '/Python.h'))"]
    )
    if has_headers.returncode != 0:
        missing.append("python3-dev")
    return missing


def install_packages(missing_now: Callable[[], list[str]]) -> None:
    """Installs what `missing_now` names; ends the program where a package that is not optional cannot be had."""
    missing = missing_now()
    if not missing:
        return
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        needed = [package for package in missing if package not in OPTIONAL]
        if needed:
            fail(f"system packages are missing; as root: apt-get install {' '.join(missing)}")
        return
    say(f"installing system packages: {' '.join(missing)}")
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    for command in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *missing]):
        if subprocess.run([apt, *command], env=environment, stdout=subprocess.DEVNULL).returncode != 0:
            say(f"apt-get {command[0]} failed")
            break
    still = [package for package in missing_now() if package not in OPTIONAL]
    if still:
        fail(f"still missing; as root: apt-get install {' '.join(still)}")


def cache_folder() -> pathlib.Path:
    explicit = os.environ.get("GRAFT_CACHE")
    if explicit:
        return pathlib.Path(explicit)
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "graft"


def torch_pins() -> dict[str, str]:
    pins = {}
    for line in (ROOT / "requirements-torch.txt").read_text().splitlines():
        if "==" in line and not line.startswith("#"):
            name, version = line.split("==")
            pins[name.strip()] = version.strip()
    return pins


def base_has_torch(base: str) -> bool:
    """True when the base interpreter has exactly the pinned versions."""
    program = (
        "import importlib.metadata as m, sys\n"
        f"pins = {torch_pins()!r}\n"
        "try: sys.exit(not all(m.version(n).split('+')[0] == v for n, v in pins.items()))\n"
        "except m.PackageNotFoundError: sys.exit(1)\n"
    )
    return subprocess.run([base, "-c", program], capture_output=True).returncode == 0


def install_torch(python: pathlib.Path) -> pathlib.Path:
    """Returns the cached folder that holds torch, installing it there when it is absent."""
    tag = subprocess.run([python, "-c", "import sys; print('cp%d%d' % sys.version_info[:2])"], capture_output=True, text=True)
    name = "-".join(f"{name}-{version}" for name, version in torch_pins().items()) + "-" + tag.stdout.strip()
    site = cache_folder() / "site" / name
    site.parent.mkdir(parents=True, exist_ok=True)
    with open(site.parent / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (site / ".complete").exists():
            return site
        free = shutil.disk_usage(site.parent).free
        if free < TORCH_BYTES:
            fail(
                f"torch needs {TORCH_BYTES / 2**30:.0f} GiB of free disk in the cache, {free / 2**30:.1f} GiB are free; "
                "make room, set GRAFT_CACHE to another disk, or set GRAFT_NO_TORCH=1"
            )
        say("installing torch and triton into the cache (several gigabytes, once)")
        partial, scratch = site.with_name(name + ".partial"), site.with_name(name + ".tmp")
        for folder in (partial, scratch, site):
            shutil.rmtree(folder, ignore_errors=True)
        scratch.mkdir()
        # pip unpacks below TMPDIR first: the disk of the cache has been looked at, /tmp may be a small one.
        run(
            python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-cache-dir", "--target", partial,
            "-r", ROOT / "requirements-torch.txt", TMPDIR=str(scratch),
        )  # fmt: skip
        shutil.rmtree(scratch, ignore_errors=True)
        (partial / ".complete").touch()
        partial.rename(site)
    return site


def fingerprint(base: str) -> str:
    parts = [base, os.environ.get("GRAFT_NO_TORCH", ""), str(cache_folder()), str(VENV)]
    for name in ("scripts/setup.py", "requirements-dev.txt", "requirements-torch.txt"):
        parts.append((ROOT / name).read_text())
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def main() -> None:
    # What PYTHONPATH shows to this script will not be there for .venv later.
    os.environ.pop("PYTHONPATH", None)
    # A pyenv shim or an activated environment resolves to the real interpreter, so that the stamp is stable.
    base = os.environ.get("GRAFT_BASE_PYTHON") or getattr(sys, "_base_executable", sys.executable)
    if sys.version_info < (3, 10) and "GRAFT_BASE_PYTHON" not in os.environ:
        fail(f"Python 3.10 or newer is needed, this is {sys.version.split()[0]}; set GRAFT_BASE_PYTHON to another interpreter")
    wanted = fingerprint(base)
    torch_folder = VENV / ".graft-torch-folder"
    if STAMP.exists() and STAMP.read_text() == wanted and (VENV / "bin" / "python").exists():
        known = torch_folder.read_text() if torch_folder.exists() else ""
        if not known or (pathlib.Path(known) / ".complete").exists():
            return
    install_packages(lambda: missing_packages(base))
    use_base_torch = not os.environ.get("GRAFT_NO_TORCH") and base_has_torch(base)
    say(f"making .venv from {base}")
    run(base, "-m", "venv", "--clear", *(["--system-site-packages"] if use_base_torch else []), VENV)
    python = VENV / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", ROOT / "requirements-dev.txt")
    if not os.environ.get("GRAFT_NO_TORCH") and not use_base_torch:
        site = install_torch(python)
        packages = subprocess.run(
            [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], capture_output=True, text=True
        ).stdout.strip()
        (pathlib.Path(packages) / "graft-torch.pth").write_text(f"{site}\n")
        torch_folder.write_text(str(site))
    STAMP.write_text(wanted)
    say("ready")


if __name__ == "__main__":
    main()
