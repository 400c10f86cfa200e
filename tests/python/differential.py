#!/usr/bin/env python3
"""Graft's parser against CPython's own, file by file and definition by definition.

usage: differential.py [PATH...] [--program GRAFT] [--no-definitions] [--jobs N] [--limit-files N] [--cache FILE]

For every *.py below the paths (default: the standard library and everything installed beside it) both sides give the canonical
text of the syntax tree or a refusal; for every function and class the lines and the text that inspect.getsource takes, and the
canonical text of that. Prints what was compared and one hash over all canonical texts from each side. Exit code 0 when the two
sides agree everywhere, else 1. The rules are those of the running Python (--profile of its version).
"""

import argparse
import hashlib
import json
import multiprocessing
import os
import pathlib
import pickle
import subprocess
import sys
import sysconfig
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import oracle  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def default_paths():
    """The standard library and every folder of installed packages, without those that lie below another."""
    paths = {os.path.realpath(sysconfig.get_paths()[key]) for key in ("stdlib", "platstdlib", "purelib", "platlib")}
    paths |= {os.path.realpath(entry) for entry in sys.path if entry and os.path.isdir(entry)}
    paths -= {str(ROOT), str(ROOT / "python"), str(pathlib.Path(__file__).resolve().parent)}
    return sorted(path for path in paths if not any(path.startswith(other + os.sep) for other in paths))


def default_program():
    return os.environ.get("GRAFT_PROGRAM", str(ROOT / "build" / "graft"))


def graft_side(program, paths, profile, with_definitions, jobs):
    """{path: {"ast", "line", "message", "definitions"}} and the total hash the program prints."""
    command = [program, "python", "hash", "--profile", profile, "--jobs", str(jobs)]
    command += ["--definitions"] * with_definitions + paths
    process = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if process.returncode not in (0, 1):
        sys.exit("differential: %s ended with %d" % (program, process.returncode))
    results, total, current = {}, None, None
    for line in process.stdout.decode("utf-8", "surrogateescape").splitlines():
        parts = line.split("\t")
        if parts[0] == "total":
            total = parts[1]
        elif parts[0] == "error":
            results[parts[1]] = {"ast": None, "line": int(parts[2].split(":")[0]), "message": parts[3], "definitions": []}
        elif len(parts) == 2:
            current = results[parts[1]] = {"ast": parts[0], "line": None, "message": None, "definitions": []}
        else:
            first, last = parts[2].split("-")
            digest = None if parts[0] == "-" else parts[0]
            current["definitions"].append((parts[3], int(first), int(last), parts[1], digest))
    return results, total


def examine_file(task):
    path, with_definitions = task
    with open(path, "rb") as file:
        data = file.read()
    return path, len(data), oracle.examine(data, with_definitions)


def examine_files(tasks):
    return oracle.with_deep_stack(lambda: [examine_file(task) for task in tasks])


def cpython_side(files, with_definitions, jobs, cache_path):
    cache = {}
    if cache_path and os.path.exists(cache_path):
        with open(cache_path, "rb") as file:
            cache = pickle.load(file)
    known, tasks = {}, []
    for path in files:
        stat = os.stat(path)
        key = (path, stat.st_size, stat.st_mtime_ns, with_definitions, sys.version)
        if key in cache:
            known[path] = cache[key]
        else:
            tasks.append((path, with_definitions))
    chunks = [tasks[i : i + 20] for i in range(0, len(tasks), 20)]
    started = time.monotonic()
    with multiprocessing.Pool(jobs) as pool:
        for number, chunk in enumerate(pool.imap_unordered(examine_files, chunks)):
            for path, size, result in chunk:
                known[path] = (size, result)
            if number % 50 == 49:
                print("  CPython: %d of %d files, %.0f s" % (20 * number, len(tasks), time.monotonic() - started), flush=True)
    if cache_path and tasks:
        for path, _ in tasks:
            stat = os.stat(path)
            cache[(path, stat.st_size, stat.st_mtime_ns, with_definitions, sys.version)] = known[path]
        with open(cache_path, "wb") as file:
            pickle.dump(cache, file)
    return known


def compare(files, ours, theirs):
    """Differences as lines for people, and figures."""
    differences = []
    figures = {"files": len(files), "bytes": 0, "definitions": 0, "refused": 0, "same_line": 0}
    total = hashlib.sha256()
    for path in files:
        size, expected = theirs[path]
        figures["bytes"] += size
        figures["definitions"] += len(expected["definitions"])
        for digest in [expected["ast"]] + [definition[4] for definition in expected["definitions"]]:
            total.update((digest or "-").encode() + b"\n")
        got = ours.get(path)
        if got is None:
            differences.append("%s: not read by graft" % path)
            continue
        if expected["ast"] is None:
            figures["refused"] += 1
            figures["same_line"] += got["ast"] is None and got["line"] == expected["line"]
        if got["ast"] != expected["ast"]:
            if got["ast"] is None:
                differences.append("%s:%s: refused: %s" % (path, got["line"], got["message"]))
            elif expected["ast"] is None:
                differences.append("%s:%s: accepted; CPython: %s" % (path, expected["line"], expected["message"]))
            else:
                differences.append("%s: other tree" % path)
            continue
        mine = got["definitions"]
        if [d[0] for d in mine] != [d[0] for d in expected["definitions"]]:
            differences.append("%s: other definitions" % path)
            continue
        for a, b in zip(mine, expected["definitions"]):
            if a == b:
                continue
            what = (
                "lines %d-%d, CPython %d-%d" % (a[1], a[2], b[1], b[2])
                if a[1:3] != b[1:3]
                else "text"
                if a[3] != b[3]
                else "tree"
            )
            differences.append("%s:%d: %s: other %s" % (path, b[1], b[0], what))
    figures["hash"] = total.hexdigest()
    return differences, figures


def run(paths, program, with_definitions=True, jobs=1, limit=0, cache=None):
    """(differences, figures, hash of graft)."""
    files = [path for root in paths for path in (oracle.python_files(root) if os.path.isdir(root) else [root])]
    roots = paths
    if limit and len(files) > limit:
        step = len(files) / limit
        files = [files[int(i * step)] for i in range(limit)]
        roots = files
    profile = "%d.%d" % sys.version_info[:2]
    ours, total = graft_side(program, roots, profile, with_definitions, jobs)
    theirs = cpython_side(files, with_definitions, jobs, cache)
    differences, figures = compare(files, ours, theirs)
    return differences, figures, total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--program", default=default_program())
    parser.add_argument("--no-definitions", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--limit-files", type=int, default=0, help="take only so many files, spread evenly")
    parser.add_argument("--cache", help="file that keeps CPython's answers between runs")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    paths = [os.path.realpath(path) for path in options.paths] or default_paths()
    differences, figures, total = run(
        paths, options.program, not options.no_definitions, options.jobs, options.limit_files, options.cache
    )
    if options.json:
        print(json.dumps({"differences": differences, "graft_hash": total, **figures}))
        return 1 if differences or total != figures["hash"] else 0
    for line in differences[:200]:
        print(line)
    print("Python %s, profile %d.%d" % (sys.version.split()[0], *sys.version_info[:2]))
    print(
        "%(files)d files, %(definitions)d definitions, %(bytes)d bytes; %(refused)d refused by both or one, %(same_line)d of them at the same line"
        % figures
    )
    print("CPython %s" % figures["hash"])
    print("graft   %s" % total)
    print("%d differences" % len(differences))
    return 1 if differences or total != figures["hash"] else 0


if __name__ == "__main__":
    sys.exit(main())
