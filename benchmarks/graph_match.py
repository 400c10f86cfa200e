#!/usr/bin/env python3
"""Graph import and pattern matching, beside torch.fx in the same run.

  import   the text of every graph of a data file becomes a Graph (../shared/data/graphs.jsonl, or generated text where absent)
  match    a two-node pattern in a graph of 5,000 nodes: Graft's matcher and torch.fx's SubgraphMatcher, matching alone
  growth   the same pattern in 1,000, 10,000 and 100,000 nodes: time a node

The machine may be busy: every figure is the best of several runs, and import counts CPU time.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PATTERN = "import torch\ndef pattern(x, y):\n    return torch.relu(x + y)\n"


def program() -> pathlib.Path:
    named = os.environ.get("GRAFT_PROGRAM")
    return pathlib.Path(named) if named else ROOT / "build" / "graft"


def graft(*arguments) -> dict:
    done = subprocess.run([str(program()), "--json", *map(str, arguments)], text=True, capture_output=True)
    if done.returncode not in (0, 1):
        sys.exit(f"graft {' '.join(map(str, arguments))}: {done.stderr}")
    return json.loads(done.stdout)


def model(nodes: int) -> str:
    """About `nodes` nodes; every fifth step fits the pattern, and its anchor's operator stands everywhere."""
    lines = ["import torch", "class GraphModule(torch.nn.Module):", "    def forward(self, x, y):", "        v0 = torch.tanh(x)"]
    last = 0
    for i in range(1, nodes - 3):
        step = i % 5
        if step == 1:
            text = f"v{last} + y"
        elif step == 4:
            text = f"v{last} * 2.0"
        else:
            text = f"torch.relu(v{last})"
        lines.append(f"        v{i} = {text}")
        last = i
    lines.append(f"        return (v{last},)")
    return "\n".join(lines) + "\n"


def import_speed() -> None:
    data = ROOT.parent / "shared" / "data" / "graphs.jsonl"
    with tempfile.TemporaryDirectory() as folder:
        big = pathlib.Path(folder) / "graphs.jsonl"
        if data.is_file():
            big.write_text(data.read_text() * 10)
        else:
            print(f"{data} is absent: measured on generated text")
            big.write_text("".join(json.dumps({"name": str(i), "model.py": model(3000)}) + "\n" for i in range(40)))
        best = None
        for _ in range(5):
            stats = graft("graph", "stats", big)
            assert not stats["errors"], stats["errors"][:1]
            best = min(best or stats["cpu_seconds"], stats["cpu_seconds"])
        print(
            f"import: {stats['graphs']} graphs, {stats['bytes']} bytes, {stats['nodes']} nodes: "
            f"{stats['bytes'] / 1e6 / best:.1f} MB a second of CPU time"
        )


def fx_seconds(text: str, runs: int) -> tuple[float, int]:
    import torch
    import torch.fx
    from torch.fx.passes.utils.matcher_utils import SubgraphMatcher

    namespace: dict = {}
    exec(text, namespace)
    graph = torch.fx.Tracer().trace(namespace["GraphModule"]())
    exec(PATTERN, namespace)
    matcher = SubgraphMatcher(torch.fx.symbolic_trace(namespace["pattern"]).graph)
    best, found = float("inf"), 0
    for _ in range(runs):
        started = time.perf_counter()
        found = len(matcher.match(graph))
        best = min(best, time.perf_counter() - started)
    return best, found


def graft_seconds(folder: pathlib.Path, text: str, mode: str, runs: int) -> tuple[float, int]:
    (folder / "pattern.py").write_text(PATTERN)
    (folder / "model.py").write_text(text)
    best, found = float("inf"), 0
    for _ in range(runs):
        done = graft("graph", "match", "--mode", mode, "--pattern", folder / "pattern.py", folder / "model.py")
        found = len(done["results"][0]["matches"])
        best = min(best, done["seconds"])
    return best, found


def main() -> int:
    if not program().is_file():
        print(f"{program()} is not built", file=sys.stderr)
        return 1
    import_speed()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        text = model(5000)
        try:
            rival, expected = fx_seconds(text, 3)
        except ImportError:
            rival, expected = None, None
            print("torch is absent: no rival")
        for mode in ("plain", "normalized"):
            seconds, found = graft_seconds(folder, text, mode, 5)
            ratio = ""
            if rival is not None:
                if found != expected:
                    print(f"{mode}: {found} matches, torch.fx finds {expected}", file=sys.stderr)
                    return 1
                ratio = f"; torch.fx {rival * 1e3:.2f} ms, {rival / seconds:.1f} times as long"
            print(f"match {mode}, 5000 nodes, {found} matches: {seconds * 1e3:.3f} ms{ratio}")
        for nodes in (1000, 10000, 100000):
            text = model(nodes)
            figures = []
            for mode in ("plain", "normalized"):
                seconds, found = graft_seconds(folder, text, mode, 3)
                figures.append(f"{mode} {seconds / nodes * 1e9:.0f} ns a node")
            print(f"growth {nodes} nodes, {found} matches: {', '.join(figures)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
