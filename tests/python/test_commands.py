"""The commands of the group `graft python`: exit codes, texts for people, JSON."""

import hashlib
import json
import os
import subprocess
import sys

import pytest

import differential
import oracle

PROGRAM = differential.default_program()

pytestmark = pytest.mark.skipif(not os.path.exists(PROGRAM), reason="skipped: the program graft is not built")


def graft(*arguments):
    return subprocess.run([PROGRAM, "python", *map(str, arguments)], capture_output=True, text=True)


def document(*arguments):
    process = graft(*arguments, "--json")
    return process.returncode, json.loads(process.stdout)


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "model.py"
    path.write_text(
        "import torch\n\n\n"
        "class Layer:\n"
        "    @property\n"
        "    def size(self):\n"
        "        return 1\n"
        "\n"
        "    def forward(self, x):\n"
        "        return x  # é\n"
        "\n"
        "    def low(self):\n"
        '        return """\n'
        'text"""\n'
    )
    return path


def test_parse_folder_and_records(tmp_path, source):
    (tmp_path / "other.txt").write_text("not python\n")
    records = tmp_path / "graphs.jsonl"
    records.write_text(
        json.dumps({"name": "a/b", "model.py": "x = 1\n"}) + "\n" + json.dumps({"name": "c", "model.py": "y = (\n"}) + "\n"
    )
    code, answer = document("parse", tmp_path, "--jobs", "1")
    assert code == 0
    assert list(answer)[:1] == ["schema"]
    assert answer["files"] == 1 and answer["bytes"] == source.stat().st_size and answer["errors"] == []
    assert answer["seconds"] > 0 and answer["mb_per_s"] > 0
    code, answer = document("parse", records)
    assert code == 1
    assert answer["files"] == 2
    (error,) = answer["errors"]
    assert error["path"] == str(records) + ":c" and (error["line"], error["column"]) == (1, 5) and error["message"]


def test_parse_shows_the_line_and_a_caret(tmp_path):
    path = tmp_path / "bad.py"
    path.write_text("x = 1\n\tif é y:\n    pass\nz = = 2\n")
    process = graft("parse", path)
    assert process.returncode == 1
    assert "1 with errors" in process.stdout
    assert "%s:4:5: " % path in process.stderr
    assert "    z = = 2\n        ^\n" in process.stderr


def test_wrong_requests_are_2(tmp_path, source):
    assert graft("parse", tmp_path / "absent").returncode == 2
    assert graft("parse").returncode == 2
    assert graft("parse", source, "--profile", "2.7").returncode == 2
    assert graft("ast", tmp_path / "absent.py").returncode == 2
    assert graft("ast", source, "--target", "Layer.nothing").returncode == 2
    bad = tmp_path / "bad.py"
    bad.write_text("x = (\n")
    process = graft("ast", bad)
    assert process.returncode == 2 and process.stdout == "" and "%s:1:5:" % bad in process.stderr


def test_ast_text_and_hash_are_cpythons(source):
    text = oracle.canonical(oracle.parse(source.read_bytes()))
    assert graft("ast", source).stdout == text + "\n"
    code, answer = document("ast", source, "--hash")
    assert code == 0
    assert answer["target"] is None
    assert answer["ast"] == "ast-v1:" + hashlib.sha256(text.encode()).hexdigest()
    assert answer["source"] == "source-v1:" + hashlib.sha256(source.read_bytes()).hexdigest()
    assert answer["lines"] == [1, 14]


def test_target(source):
    code, answer = document("ast", source, "--target", "Layer.forward", "--hash")
    text = "    def forward(self, x):\n        return x  # é\n"
    assert code == 0
    assert answer["target"] == "Layer.forward" and answer["lines"] == [9, 10]
    assert (answer["source"], answer["ast"]) == oracle.evidence(text)
    process = graft("ast", source, "--target", "Layer.size")
    assert process.stdout.startswith("Module(body=[Assign(targets=[Name(id='__turbo_physai_property_accessor__'")
    # A text that is no program of its own has a source, but no tree.
    code, answer = document("ast", source, "--target", "Layer.low", "--hash")
    assert code == 0 and answer["ast"] is None and answer["source"].startswith("source-v1:")
    assert graft("ast", source, "--target", "Layer.low").returncode == 2


def test_hash_of_many(tmp_path, source):
    (tmp_path / "bad.py").write_text("x = (\n")
    code, answer = document("hash", tmp_path, "--definitions")
    assert code == 1
    assert (answer["files"], answer["definitions"], answer["refused"]) == (2, 4, 1)
    bad, good = answer["results"]
    assert bad["ast"] is None and bad["error"]["line"] == 1
    assert [d["target"] for d in good["definitions"]] == ["Layer", "Layer.size", "Layer.forward", "Layer.low"]
    values = [bad["ast"], good["ast"]] + [d["ast"] for d in good["definitions"]]
    assert answer["hash"] == hashlib.sha256("".join((v or "-") + "\n" for v in values).encode()).hexdigest()
    lines = graft("hash", tmp_path, "--definitions").stdout.splitlines()
    assert lines[0].startswith("error\t") and lines[-1].startswith("total\t" + answer["hash"])
    # The number of threads changes nothing.
    assert document("hash", tmp_path, "--definitions", "--jobs", "3") == (code, answer)


def test_profiles(tmp_path):
    path = tmp_path / "new.py"
    path.write_text("type X[T] = list[T]\n")
    assert graft("parse", path).returncode == 0
    assert graft("parse", path, "--profile", "3.12").returncode == 0
    assert graft("parse", path, "--profile", "3.11").returncode == 1


def test_standard_output_closed_early(source):
    process = subprocess.run("%s python ast %s | head -c 10" % (PROGRAM, source), shell=True, stdout=subprocess.PIPE)
    assert len(process.stdout) == 10


@pytest.mark.skipif(sys.platform != "linux", reason="skipped: Linux only")
def test_deep_nesting_is_an_error(tmp_path):
    path = tmp_path / "deep.py"
    path.write_text("x = " + "(" * 100000 + ")" * 100000 + "\ny = " + "-" * 100000 + "1\n")
    process = graft("parse", path)
    assert process.returncode == 1 and "nested" in process.stderr
