#!/usr/bin/env python3
"""Parsing Python with one thread: `graft python parse --jobs 1` beside ast.parse of the running CPython, on the same bytes.

Both are child processes; what counts is the CPU time (user + system) the kernel charges each of them, start-up included. Runs
alternate; the best of each side is taken. Peak memory is the whole peak of a process that parses one file, over the size of the
file. Exit code 1 where graft is less than 10 times as fast or takes more than 25 times the source.
"""

import json
import os
import pathlib
import subprocess
import sys
import sysconfig
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("GRAFT_PROGRAM", str(ROOT / "build" / "graft"))
RATIO, MEMORY = 10.0, 25.0
ROUNDS = 3

CHILD = """
import ast, gc, sys, warnings
warnings.simplefilter("ignore")
if sys.argv[1] == "nogc":
    gc.disable()
for path in open(sys.argv[2]).read().splitlines():
    with open(path, "rb") as file:
        data = file.read()
    try:
        ast.parse(data)
    except (SyntaxError, ValueError):
        pass
"""


# The kernel counts the memory of the process that forks as the child's peak, too: a small one has to do it.
LAUNCHER = """
import os, sys
pid = os.fork()
if pid == 0:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.execv(sys.argv[1], sys.argv[1:])
print(os.wait4(pid, 0)[2].ru_maxrss * 1024)
"""


def peak_memory(command):
    return int(subprocess.run([sys.executable, "-I", "-S", "-c", LAUNCHER, *command], stdout=subprocess.PIPE, check=True).stdout)


def cpu_seconds(command):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        sys.exit("python_parse: %s ended with %d" % (command[0], process.returncode))
    return usage.ru_utime + usage.ru_stime


def graft_command(paths):
    return [PROGRAM, "-q", "python", "parse", "--jobs", "1", *paths]


def models():
    """Texts of graph modules to make large files of."""
    data = ROOT.parent / "shared" / "data" / "graphs.jsonl"
    if data.exists():
        with open(data, encoding="utf-8") as file:
            return [json.loads(line)["model.py"] for line in file]
    lines = ["import torch\n\n\nclass GraphModule(torch.nn.Module):\n    def forward(self, x0: torch.Tensor):\n"]
    for i in range(2000):
        lines.append("        x%d = torch.nn.functional.linear(x%d, self.w%d, bias = None);  x%d = None\n" % (i + 1, i, i, i))
    return ["".join(lines) + "        return (x2000,)\n"]


def large_files(folder):
    """Four files of 1 to 3 MB."""
    texts = models()
    paths = []
    for number, size in enumerate((1_000_000, 1_600_000, 2_300_000, 3_000_000)):
        path = os.path.join(folder, "large_%d.py" % number)
        written, at = 0, number * 7
        with open(path, "w", encoding="utf-8") as file:
            while written < size:
                written += file.write(texts[at % len(texts)].rstrip("\n") + "\n\n\n")
                at += 1
        paths.append(path)
    return paths


def compare(name, paths, folder, repeat=1):
    """Prints one line; returns the ratio."""
    listing = os.path.join(folder, "paths.txt")
    with open(listing, "w") as file:
        file.write("\n".join(paths * repeat) + "\n")
    size = sum(os.path.getsize(path) for path in paths) * repeat
    graft, plain, nogc = [], [], []
    for _ in range(ROUNDS):
        graft.append(cpu_seconds(graft_command(paths * repeat)))
        plain.append(cpu_seconds([sys.executable, "-I", "-S", "-c", CHILD, "gc", listing]))
        nogc.append(cpu_seconds([sys.executable, "-I", "-S", "-c", CHILD, "nogc", listing]))
    ours, theirs, harsh = min(graft), min(plain), min(nogc)
    print(
        "%-24s %7.1f MB  graft %6.1f MB/s  ast.parse %5.1f MB/s  ratio %5.1f  (%.1f against ast.parse without gc)"
        % (name, size / 1e6, size / 1e6 / ours, size / 1e6 / theirs, theirs / ours, harsh / ours),
        flush=True,
    )
    return theirs / ours


def main():
    if not os.path.exists(PROGRAM):
        print("python_parse: %s is not built" % PROGRAM, file=sys.stderr)
        return 3
    print("CPU time of the child, one thread, best of %d; Python %s" % (ROUNDS, sys.version.split()[0]))
    with tempfile.TemporaryDirectory() as folder:
        stdlib = sysconfig.get_paths()["stdlib"]
        files = sorted(str(path) for path in pathlib.Path(stdlib).rglob("*.py") if "site-packages" not in path.parts)
        large = large_files(folder)
        ratios = [compare("standard library", files, folder)]
        ratios += [compare(os.path.basename(path), [path], folder, repeat=8) for path in large]
        worst = 0.0
        for path in large:
            peak = min(peak_memory(graft_command([path])) for _ in range(ROUNDS))
            size = os.path.getsize(path)
            worst = max(worst, peak / size)
            print(
                "%-24s peak memory %.1f MB for %.1f MB of source: %.1f times"
                % (os.path.basename(path), peak / 1e6, size / 1e6, peak / size)
            )
        ok = min(ratios) >= RATIO and worst <= MEMORY
        print(
            "%s: at least %.1f times ast.parse (wanted %.0f), memory at most %.1f times the source (allowed %.0f)"
            % ("ok" if ok else "NOT REACHED", min(ratios), RATIO, worst, MEMORY)
        )
        return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
