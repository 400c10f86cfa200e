"""Evaluates graphs as PassBench does: `python -m pass_bench.torch.test_compiler`.

The lines of the log go to stderr. They are written by Graft of what it measured: what a pass prints is in none of them.
"""

from __future__ import annotations

import argparse
import base64
import binascii
import json
import os
import pathlib
import sys
import tempfile

from pass_bench import _engine

_PROMPT = "graph-net-test-compiler-log"
# What `graft bench run` compares with the original, and how it takes times.
_COMPILERS = {
    "nope": ["--candidate", "identity", "--strict-passbench"],
    "inductor": ["--candidate", "inductor", "--strict-passbench"],
    "pass_mgr": ["--strict-passbench"],
    # The graph itself, without the guards of torch.compile around it.
    "pass_mgr_direct": [],
}
_MACHINE_CODES = (3, 4, 130)  # graft's own troubles, not the sample's


def settle_device(wanted: str) -> str:
    """The script of a sample always asks for a GPU. Where there is none the CPU answers, and the log says so."""
    wanted = os.environ.get("PASS_BENCH_DEVICE") or wanted
    drivers = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg")
    if wanted == "cuda" and "PASS_BENCH_DEVICE" not in os.environ and not any(map(os.path.exists, drivers)):
        print("no NVIDIA GPU here: the graphs run on the CPU (PASS_BENCH_DEVICE=cuda makes this an error)", file=sys.stderr)
        return "cpu"
    return wanted


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m pass_bench.torch.test_compiler", description=__doc__)
    parser.add_argument("--model-path", help="a graph folder, or a tree of them")
    parser.add_argument("--model-path-prefix", help="folder below which the graphs of --allow-list lie")
    parser.add_argument("--allow-list", help="text file, a graph folder a line")
    parser.add_argument("--compiler", default="inductor", choices=sorted(_COMPILERS))
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--warmup", type=int, default=3)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--log-prompt", default=_PROMPT, help="first word of the log's lines")
    parser.add_argument("--config", help="a JSON object in base64")
    flags = parser.parse_args(arguments)
    try:
        flags.config = read_config(flags.config)
    except ValueError as error:
        parser.error(f"argument --config: {error}")
    if flags.model_path_prefix is not None and flags.allow_list is None:
        parser.error("--model-path-prefix needs --allow-list")
    if flags.model_path_prefix is None and flags.model_path is None:
        parser.error("one of --model-path and --model-path-prefix is required")
    for name, there in (("model_path", os.path.isdir), ("model_path_prefix", os.path.isdir), ("allow_list", os.path.isfile)):
        value = getattr(flags, name)
        if value is not None and not there(value):
            kind = "file" if name == "allow_list" else "folder"
            parser.error(f"argument --{name.replace('_', '-')}: '{value}' is not a {kind}")
    flags.device = settle_device(flags.device)
    return flags


def read_config(text: str | None) -> dict:
    if text is None or text == "None":
        return {}
    try:
        config = json.loads(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"no JSON in base64: {error}") from None
    if not isinstance(config, dict):
        raise ValueError("no JSON object")
    return config


def engine_options(flags: argparse.Namespace) -> list[str]:
    options = ["--device", flags.device, "--warmup", str(flags.warmup), "--trials", str(flags.trials)]
    options += _COMPILERS[flags.compiler]
    config = flags.config
    if flags.compiler.startswith("pass_mgr"):
        if folder := config.get("output_pass_rule_dir"):
            options += ["--pass-dir", folder]
        # The script names the folder of built-in passes whether there is one or not.
        if (folder := config.get("input_pass_rule_dir")) and os.path.isdir(folder):
            options += ["--const-pass-dir", folder]
        for key, option in (
            ("output_pass_replacement_func_limit", "--function-limit"),
            ("output_pass_pattern_limit", "--pattern-limit"),
        ):
            if config.get(key) is not None:
                options += [option, str(config[key])]
    elif flags.compiler == "inductor":
        given = {key: config[key] for key in ("fullgraph", "dynamic", "mode", "options") if config.get(key) is not None}
        options += ["--inductor-options", json.dumps(given)]
    return options


def list_of_graphs(flags: argparse.Namespace) -> list[str]:
    lines = pathlib.Path(flags.allow_list).read_text(encoding="utf-8").splitlines()
    return [os.path.join(flags.model_path_prefix, line.strip()) for line in lines if line.strip()]


def write_failed(graph: str, flags: argparse.Namespace, reason: str) -> None:
    """The log of a graph of which nothing could be run: it counts as failed."""
    prompt, name = flags.log_prompt, os.path.basename(os.path.normpath(graph))
    print(f"{prompt} [Processing] {_engine.harmless(os.path.normpath(graph)).replace(' ', '_')}", file=sys.stderr)
    for key, value in (("model", name), ("device", flags.device), ("compiler", flags.compiler)):
        print(f"{prompt} [Config] {key}: {_engine.harmless(value)}", file=sys.stderr)
    print(f"{prompt} [Result] status: failed", file=sys.stderr)
    print(f"{prompt} [Fail due to eager model execution error.]", file=sys.stderr)
    print(_engine.harmless(reason), file=sys.stderr, flush=True)


def write_log(sample: dict, flags: argparse.Namespace) -> None:
    text = pathlib.Path(sample["files"]["log"]).read_text(encoding="utf-8")
    if flags.log_prompt != _PROMPT:
        lines = text.splitlines(keepends=True)
        text = "".join(flags.log_prompt + line.removeprefix(_PROMPT) if line.startswith(_PROMPT) else line for line in lines)
    sys.stderr.write(text)
    sys.stderr.flush()


def write_match(flags: argparse.Namespace, matched: bool) -> None:
    path = flags.config.get("pass_match_result_file_path")
    if path and flags.compiler == "pass_mgr":
        pathlib.Path(path).write_text(str(matched))


def main(arguments: list[str]) -> int:
    flags = parse(arguments)
    with tempfile.TemporaryDirectory(prefix="pass-bench-") as folder:
        out = ["--out", os.path.join(folder, "run")]
        if flags.model_path_prefix is not None:
            print(f"model_path_prefix: {flags.model_path_prefix}", file=sys.stderr, flush=True)
            where = [flags.model_path_prefix, "--graph-list", flags.allow_list]
        else:
            where = [flags.model_path]
        code, document = _engine.ask(["bench", "run", *where, *engine_options(flags), *out])
        samples = document.get("samples", [])
        for sample in samples:
            write_log(sample, flags)
    graphs = [graph for sample in samples for graph in sample["graphs"]]
    if code in _MACHINE_CODES:
        return code
    if not graphs and flags.model_path_prefix is not None:
        for graph in list_of_graphs(flags):
            write_failed(graph, flags, "nothing of the sample could be evaluated, see above")
    write_match(flags, any(graph["matched"] for graph in graphs))
    if flags.model_path_prefix is None and not os.path.isfile(os.path.join(flags.model_path, "model.py")):
        failed = [graph["path"] for graph in graphs if graph["status"].endswith("_fail") or graph["status"] == "pass_miss"]
        print(f"Totally {len(graphs)} verified samples, failed {len(failed)} samples.")
        for path in failed:
            print(f"- {path}")
    # An answer that is no is an answer; only what could not be asked at all is a failure of the command.
    return 0 if graphs or flags.model_path_prefix is not None else 2


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except _engine.EngineError as error:
        print(f"pass_bench: {error}", file=sys.stderr)
        sys.exit(error.code)
