"""A printed graph computes what its model computes, bit for bit, and leaves its inputs in the same state."""

import os
import re
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))
import graph_runner

torch = pytest.importorskip("torch")

SUBGRAPHS = graph_runner.records("subgraphs.jsonl")
GRAPHS = graph_runner.records("graphs.jsonl")
LONG = bool(os.environ.get("GRAFT_LONG_TESTS"))
# A few of every kind in the short suite; all of them, and the whole graphs, in the long one.
CHOSEN = (SUBGRAPHS or []) if LONG else (SUBGRAPHS or [])[::8]
WHOLE = (GRAPHS or []) if LONG else [r for r in (GRAPHS or []) if len(r["model.py"]) < 18000]

pytestmark = [
    pytest.mark.skipif(graph_runner.program() is None, reason="the program graft is not built"),
    pytest.mark.skipif(SUBGRAPHS is None, reason="../shared/data is absent"),
]


def check(record, tmp_path):
    path = tmp_path / "model.py"
    path.write_text(record["model.py"])
    printed = graph_runner.graft("graph", "show", "--format", "python", path).stdout
    original = graph_runner.load_module(record["model.py"])
    again = graph_runner.load_module(printed)
    inputs = graph_runner.make_inputs(record["weight_meta.py"], original)
    try:
        expected, expected_state = graph_runner.run(original, inputs)
    except ValueError as error:
        # The installed torch refuses an argument that the torch of the capture took: the printed graph must pass it too.
        with pytest.raises(ValueError, match=re.escape(str(error))):
            graph_runner.run(again, inputs)
        return
    outputs, state = graph_runner.run(again, inputs)
    assert len(outputs) == len(expected)
    for index, (a, b) in enumerate(zip(outputs, expected)):
        assert graph_runner.same_bits(a, b), f"output {index} differs"
    for index, (a, b) in enumerate(zip(state, expected_state)):
        assert graph_runner.same_bits(a, b), f"input {index} is left in another state"


@pytest.mark.parametrize("record", CHOSEN, ids=[r["name"] for r in CHOSEN])
def test_subgraph(record, tmp_path):
    check(record, tmp_path)


@pytest.mark.parametrize("record", WHOLE, ids=[r["name"] for r in WHOLE])
def test_graph(record, tmp_path):
    check(record, tmp_path)
