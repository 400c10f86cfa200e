"""Scores of a PassBench log: `python -m pass_bench.aggregate_es_scores`."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import runpy
import sys
import tempfile

from pass_bench import _engine

_CURVE = "validation"


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m pass_bench.aggregate_es_scores", description=__doc__)
    parser.add_argument("--benchmark-path", required=True, help="a log, or a folder of logs of which one is called validation")
    parser.add_argument("--sample-id", type=int, required=True, help="goes into the score file")
    parser.add_argument("--output-json-file-path", required=True, help='gets {"id", "score"}')
    parser.add_argument("--negative-speedup-penalty", type=float, default=0.0, help="p: a slow-down s counts s^(p+1)")
    parser.add_argument("--fpdb", type=float, default=0.1, help="b: what a failure counts")
    parser.add_argument("--positive-tolerance-interpretation", choices=["default", "mismatch_extended"], default="default")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--enable-aggregation-mode", dest="aggregation", action="store_true", default=True)
    group.add_argument(
        "--disable-aggregation-mode",
        dest="aggregation",
        action="store_false",
        help="do not compare the scores with their macro form",
    )
    return parser.parse_args(arguments)


def _custom_weights(folder: str) -> list[str]:
    """The weights of $PASSNET_CUSTOM_WEIGHT_FUNC_PATH, whose file is run, as options of graft."""
    path = os.environ.get("PASSNET_CUSTOM_WEIGHT_FUNC_PATH")
    if not path:
        return []
    weights = runpy.run_path(path)["get_weights"]()
    file = pathlib.Path(folder) / "weights.json"
    file.write_text(json.dumps({str(level): weight for level, weight in weights.items()}))
    return ["--weights", str(file)]


def _verify(curve: dict) -> bool:
    """Prints how both forms of ES compare at each level; whether that leaves the score in doubt."""
    agree = True
    for level, macro in sorted(curve["macro"].items(), key=lambda item: int(item[0])):
        micro, aggregated = curve["es"][level], macro["es"]
        difference = abs(micro - aggregated)
        line = f"Microscopic: {micro:.6f}, Aggregated: {aggregated:.6f}, Diff: {difference:.2e}"
        if macro["verified"]:
            print(f"t={int(level):3d}: MATCHED  - {line}")
        else:
            share = f" ({difference / abs(aggregated) * 100:.2f}%)" if aggregated else ""
            print(f"t={int(level):3d}: MISMATCH - {line}{share}")
            agree = False
    if agree:
        print("SUCCESS: both forms of the score agree")
    elif any(sample["status"] == "eager_fail" for sample in curve["samples"]):
        # By its definition: a graph whose eager phase failed is never tolerated, but the macro form's gamma counts it as a
        # failure that is.
        print("The macro form does not hold for graphs whose eager phase failed; the microscopic scores are used.")
        return True
    else:
        print("the two forms of the score differ")
    return agree


def _write(path: str, document: dict) -> None:
    target = pathlib.Path(path)
    handle, temporary = tempfile.mkstemp(dir=target.parent or ".", prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w") as file:
            json.dump(document, file, indent=4)
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def main(arguments: list[str]) -> int:
    flags = parse(arguments)
    # A score file of an earlier run must not pass for this one's.
    pathlib.Path(flags.output_json_file_path).unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        command = ["-q", "bench", "score", flags.benchmark_path, "--penalty", str(flags.negative_speedup_penalty)]
        command += ["--base", str(flags.fpdb), "--interpretation", flags.positive_tolerance_interpretation]
        code, document = _engine.ask(command + _custom_weights(folder))
    curves = {curve["name"]: curve for curve in document.get("curves", [])}
    if code not in (0, 1):
        return code
    if not curves:
        print("No valid data found. Exiting.")
        return 1
    curve = curves.get(_CURVE) or (next(iter(curves.values())) if len(curves) == 1 else None)
    if curve is None:
        print(f"none of the logs is called {_CURVE}: {', '.join(sorted(curves))}", file=sys.stderr)
        return 1
    for level, value in sorted(curve["es"].items(), key=lambda item: int(item[0])):
        print(f"  - ESt={value:.3f} for tolerance={level}.")
    if flags.aggregation and not _verify(curve):
        return 1
    if curve["score"] is None:
        print("no aggregated score: the standard weights end at level 4; give $PASSNET_CUSTOM_WEIGHT_FUNC_PATH", file=sys.stderr)
        return 1
    _write(flags.output_json_file_path, {"id": flags.sample_id, "score": curve["score"]})
    print(f"aggregated_speedup={curve['score']}")
    print(f"Result is saved to {flags.output_json_file_path}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except _engine.EngineError as error:
        print(f"pass_bench: {error}", file=sys.stderr)
        sys.exit(error.code)
