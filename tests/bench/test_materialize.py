"""The tensors graft makes, against numpy's RandomState and torch doing the same by the rule, bit for bit."""

import json
import os
import pathlib
import random
import subprocess

import pytest

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = pathlib.Path(os.environ.get("GRAFT_PROGRAM", ROOT / "build" / "graft"))
DATA = ROOT.parent / "shared" / "data"
LONG = bool(os.environ.get("GRAFT_LONG_TESTS"))

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not built")

RANGED = (torch.int8, torch.int16, torch.int32, torch.int64)


def classes_of(text):
    space = {}
    exec(text, space)  # our own texts and the data set's
    return [space[name] for name in sorted(space) if isinstance(space[name], type)]


def attributes(cls):
    return {k: getattr(cls, k) for k in dir(cls) if not k.startswith("__") and not callable(getattr(cls, k))}


def load(text, generator):
    """The load phase of one file: name -> what is known of the tensor."""
    known = {}
    for cls in classes_of(text):
        a = attributes(cls)
        dtype = getattr(torch, a.get("dtype", "float32").split(".")[-1])
        shape, low, high = a.get("shape", []), a.get("min_val"), a.get("max_val")
        data = None
        if low is not None and high is not None and dtype in RANGED:
            data = torch.tensor(generator.randint(low, high + 1, size=shape)).to(dtype)
        elif a.get("data") is not None:
            data = torch.tensor(a["data"], dtype=dtype).reshape(shape)
        known[a["name"]] = (data, shape, dtype, a.get("mean", 0.0), a.get("std", 1.0), low, high)
    return known


def replay(data, shape, dtype, mean, std, low, high, generator):
    if data is not None:
        return data
    if dtype == torch.bool:
        return torch.tensor(generator.rand(*shape) > 0.5)
    std, mean = 0.1 if std is None else std, 0 if mean is None else mean
    if std == 0:
        values = np.full(shape, float(mean))
    else:
        values = np.asarray(generator.randn(*shape) * std * 0.2 + mean)
    tensor = torch.from_numpy(np.ascontiguousarray(values, dtype=np.float64)).reshape(shape).to(dtype)
    if low is not None:
        tensor = tensor.clamp(min=low)
    if high is not None:
        tensor = tensor.clamp(max=high)
    if dtype.is_floating_point:
        tensor = torch.where(torch.isfinite(tensor), tensor.clamp(-100, 100), tensor)
    return tensor


def expected(weights, inputs):
    generator = np.random.RandomState(123)
    load(inputs, generator)
    return {name: replay(*info, generator) for name, info in load(weights, generator).items()}


def graft(folder, weights, inputs, out):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.py").write_text("")
    (folder / "weight_meta.py").write_text(weights)
    (folder / "input_meta.py").write_text(inputs)
    (folder / "graph_net.json").write_text("{}")
    run = subprocess.run(
        [PROGRAM, "--json", "bench", "inputs", folder, "--out", out], capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)["tensors"]


def check(tmp_path, weights, inputs=""):
    tensors = graft(tmp_path / "graph", weights, inputs, tmp_path / "out")
    reference = expected(weights, inputs)
    assert [t["name"] for t in tensors] == list(reference)
    for tensor in tensors:
        wanted = reference[tensor["name"]]
        assert tensor["shape"] == list(wanted.shape)
        assert "torch." + tensor["dtype"] == str(wanted.dtype)
        ours = np.frombuffer(pathlib.Path(tensor["file"]).read_bytes(), dtype=np.uint8)
        theirs = wanted.contiguous().reshape(-1).view(torch.uint8).numpy() if wanted.numel() else np.empty(0, np.uint8)
        if tensor["nonfinite"]:
            view = torch.from_numpy(ours.copy()).view(wanted.dtype).reshape(wanted.shape)
            finite = torch.isfinite(wanted)
            assert torch.equal(finite, torch.isfinite(view)), tensor["name"]
            assert int((~finite).sum()) == tensor["nonfinite"]
            assert torch.equal(view[finite], wanted[finite]), tensor["name"]
        else:
            assert np.array_equal(ours, theirs), tensor["name"]


def meta(name, **attributes):
    lines = "".join(f"    {key} = {value}\n" for key, value in attributes.items())
    return f"class Program_weight_tensor_meta_{name}:\n    name = {name!r}\n{lines}\n"


FLOATS = ["float16", "bfloat16", "float32", "float64"]
INTS = ["int8", "int16", "int32", "int64", "uint8"]


def test_every_dtype_drawn(tmp_path):
    text = "".join(
        meta(f"{dtype}_{i}", shape=shape, dtype=repr("torch." + dtype), mean=mean, std=std)
        for dtype in FLOATS + INTS + ["bool", "uint16", "uint32", "uint64", "complex64", "complex128"]
        for i, (shape, mean, std) in enumerate(
            [([7, 3], 0.5, 1.0), ([], 2.0, 0.3), ([0, 4], 0, 1), ([9001], 20.0, 40.0), ([5], "None", "None"), ([4], 3, 0)]
        )
        if not (dtype in ("uint16", "uint32", "uint64") and i == 3)  # negative values: not the same on every processor
    )
    check(tmp_path, text)


def test_tiny_and_wide_floats(tmp_path):
    text = "".join(
        meta(f"{dtype}_{i}", shape=[4000], dtype=repr("torch." + dtype), mean=mean, std=std, min_val=low)
        for dtype in FLOATS
        for i, (mean, std, low) in enumerate(
            [(0, 1e-7, "None"), (0, 1e-39, "0"), (60000, 30000, "None"), (0, 1e5, "None"), (0, 1e39, "-3"), (0, 2e-6, "-0.0")]
        )
    )
    check(tmp_path, text)


def test_ranges_and_clamps(tmp_path):
    text = "".join(
        meta(f"{dtype}_r{i}", shape=[501], dtype=repr("torch." + dtype), min_val=low, max_val=high)
        for dtype in ("int8", "int16", "int32", "int64")
        for i, (low, high) in enumerate([(0, 1), (-5, 5), (3, 3), (0, 2**31 - 1), (-(2**40), 2**40), (0, 2**32 - 1)])
    )
    text += "".join(
        meta(f"{dtype}_c", shape=[300], dtype=repr("torch." + dtype), std=30, min_val=0, max_val=3)
        for dtype in FLOATS + ["uint8"]
    )
    text += meta("one_sided", shape=[300], dtype=repr("torch.int64"), std=30, min_val=-2)
    text += meta("float_bounds", shape=[300], dtype=repr("torch.int64"), min_val=0.0, max_val=9.7)
    check(tmp_path, text, inputs=meta("i", shape=[13], dtype=repr("torch.int32"), min_val=0, max_val=100))


def test_data(tmp_path):
    text = meta("nested", shape=[2, 2], data=[[1, 2.5], [3, -4]])
    text += meta("flat", shape=[2, 2], dtype=repr("torch.float16"), data=[1, 70000, 1e-8, 0.1])
    text += meta("ints", shape=[3], dtype=repr("torch.int8"), data=[1.9, -1.9, -128])
    text += meta("wrapped", shape=[2], dtype=repr("torch.uint8"), data=[-1, 255])
    text += meta("flags", shape=[3], dtype=repr("torch.bool"), data=[True, 0, 0.5])
    text += meta("scalar", shape=[], dtype=repr("torch.int64"), data=2**62 + 1)
    text += meta("big", shape=[1], dtype=repr("torch.float32"), data=[2**62 + 1])
    check(tmp_path, text)


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"])
def test_eight_bit_floats(tmp_path, dtype):
    chooser = random.Random(5)
    exact = torch.arange(256, dtype=torch.uint8).view(getattr(torch, dtype)).float()
    finite = exact[torch.isfinite(exact)].tolist()
    ordered = sorted(set(finite))
    values = finite + [(a + b) / 2 for a, b in zip(ordered[:-1], ordered[1:], strict=True)]
    values += [chooser.gauss(0, 1) * 2.0 ** chooser.randrange(-20, 18) for _ in range(3000)]
    values += [1e-45, 1e-40, 3e38, 470.0, 464.0, 465.0, 61440.0, 61441.0]
    if dtype == "float8_e8m0fnu":
        values = [abs(v) for v in values]
    check(tmp_path, meta("x", shape=[len(values)], dtype=repr("torch." + dtype), data=values))


def test_random_metadata(tmp_path):
    chooser = random.Random(11)
    for round_number in range(40 if LONG else 8):
        text = ""
        for i in range(chooser.randrange(1, 12)):
            dtype = chooser.choice(FLOATS + INTS + ["bool"])
            shape = [chooser.randrange(0, 40) for _ in range(chooser.randrange(0, 4))]
            fields = {"shape": shape, "dtype": repr("torch." + dtype)}
            if chooser.random() < 0.8:
                fields["mean"] = chooser.choice(["None", 0, chooser.uniform(-3, 3)])
            if chooser.random() < 0.8:
                fields["std"] = chooser.choice(["None", 0, chooser.uniform(0, 9), 700.0])
            if dtype in INTS[:4] and chooser.random() < 0.5:
                fields["min_val"] = chooser.randrange(-100, 5)
                fields["max_val"] = chooser.randrange(5, 100)
            elif dtype in FLOATS and chooser.random() < 0.3:
                fields["min_val"] = chooser.choice([0, -0.5, 1.25])
            name = f"{chooser.choice('abcXYZ')}{i}"
            text += meta(name, **fields)
        check(tmp_path / str(round_number), text)


@pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is absent")
def test_the_data_set(tmp_path):
    records = [json.loads(line) for line in (DATA / "subgraphs.jsonl").open()]
    checked = 0
    for i, record in enumerate(records if LONG else records[::6]):
        check(tmp_path / str(i), record["weight_meta.py"], record["input_meta.py"])
        for file in (tmp_path / str(i) / "out").iterdir():
            file.unlink()
        checked += 1
    assert checked >= 10
