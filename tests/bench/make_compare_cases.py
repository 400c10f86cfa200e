"""Writes data/compare_cases.json: what torch says about pairs of tensors, as the reference evaluator asks it.

Run with a Python that has torch, from any folder; the result is kept in the tree, so tests need no torch.
"""

import json
import math
import pathlib

import torch

COLUMNS = {"float16": (1, 3 / 5), "bfloat16": (1, 1.796 / 5), "float32": (1, 5.886 / 5), "float64": (7 / 5, 7 / 5)}


def tolerance(column, t):
    absolute, relative = COLUMNS[column]
    return float(f"{10 ** (t * absolute):.2E}"), float(f"{10 ** (t * relative):.2E}")


def smallest_close(eager, candidate, column):
    """The smallest level from which on allclose holds at every level; None: none."""
    smallest = None
    for t in range(5, -11, -1):
        atol, rtol = tolerance(column, t)
        if not torch.allclose(eager, candidate, atol=atol, rtol=rtol):
            break
        smallest = t
    return smallest


def json_number(value):
    return value if math.isfinite(value) else str(value)


def case(name, eager, candidate):
    kind = str(eager.dtype).removeprefix("torch.")
    if eager.numel() == 0:
        largest = mean = 0.0
    else:
        gap = (eager.to(torch.float32) - candidate.to(torch.float32)).abs()
        largest, mean = gap.max().item(), gap.mean().item()
    # torch has no allclose for integers whose difference it takes in another type; the evaluator never needs their rows.
    close = {} if not eager.is_floating_point() else {c: smallest_close(eager, candidate, c) for c in COLUMNS}
    return {
        "name": name,
        "dtype": kind,
        "eager": eager.contiguous().view(torch.uint8).numpy().tobytes().hex() if eager.numel() else "",
        "candidate": candidate.contiguous().view(torch.uint8).numpy().tobytes().hex() if eager.numel() else "",
        "count": eager.numel(),
        "equal": torch.equal(eager, candidate),
        "close_from": close,
        "max_diff": json_number(largest),
        "mean_diff": json_number(mean),
    }


def main():
    torch.manual_seed(7)
    cases = []
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        kind = str(dtype).removeprefix("torch.")
        base = torch.randn(21, dtype=torch.float64)
        for exponent in range(-13, 3):
            noise = torch.randn(21, dtype=torch.float64) * 10.0**exponent
            cases.append(case(f"{kind} noise 1e{exponent}", base.to(dtype), (base + noise).to(dtype)))
        for factor in (1e-6, 1e-2, 300.0, 6e4):
            wide = (base * factor).to(dtype)
            cases.append(case(f"{kind} scaled {factor}", wide, (wide.double() * (1 + 1e-3)).to(dtype)))
        zero = torch.zeros(5, dtype=dtype)
        cases.append(case(f"{kind} empty", zero[:0], zero[:0]))
        cases.append(case(f"{kind} signed zero", zero, -zero))
        for label, left, right in (
            ("nan both", [1, math.nan], [1, math.nan]),
            ("nan candidate", [1, 2], [1, math.nan]),
            ("nan eager", [1, math.nan], [1, 2]),
            ("inf both", [1, math.inf, -math.inf], [1, math.inf, -math.inf]),
            ("inf sign", [1, math.inf], [1, -math.inf]),
            ("inf candidate", [1, 2], [1, math.inf]),
            ("inf eager", [1, math.inf], [1, 2]),
            ("huge candidate", [1, 1], [1, 6e4]),
            ("zero candidate", [6e4, 1], [0, 1]),
        ):
            cases.append(case(f"{kind} {label}", torch.tensor(left, dtype=dtype), torch.tensor(right, dtype=dtype)))
    for dtype in (torch.int64, torch.int32, torch.uint8, torch.int8):
        kind = str(dtype).removeprefix("torch.")
        left = torch.arange(9, dtype=dtype)
        right = left.clone()
        cases.append(case(f"{kind} same", left, right))
        right[4] += 3
        cases.append(case(f"{kind} differs", left, right))
    left = torch.tensor([2**60, 1])
    cases.append(case("int64 beyond float64", left, left + torch.tensor([1, 0])))
    flags = torch.tensor([True, False, True])
    cases.append(case("bool same", flags, flags.clone()))
    cases.append(case("bool differs", flags, ~flags))
    path = pathlib.Path(__file__).parent / "data" / "compare_cases.json"
    lines = ",\n".join(json.dumps(c) for c in cases)
    path.write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
