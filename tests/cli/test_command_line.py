"""What every command shares: exit codes, help, suggestions, --json anywhere, output that cannot be written."""

import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = pathlib.Path(os.environ.get("GRAFT_PROGRAM", ROOT / "build" / "graft"))
LOG = ROOT / "tests" / "bench" / "data" / "one.log"
GRAPH = ROOT / "samples" / "rms_norm" / "graphs" / "rms_norm_small"
PASSES = ROOT / "samples" / "rms_norm" / "pass_dir"

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not built")


def graft(*arguments, **options):
    options = {"capture_output": True, "text": True, **options}
    return subprocess.run([PROGRAM, *arguments], timeout=60, **options)


def test_every_command_has_help_and_the_page_describes_it():
    overview = graft("help")
    assert overview.returncode == 0
    page = (ROOT / "docs" / "cli.md").read_text()
    everywhere = {"--help", "--json", "--quiet", "--verbose"}
    lines = overview.stdout.split("commands:\n")[1].split("\n\n")[0].splitlines()
    commands = [line[2:18].strip() for line in lines if "help COMMAND" not in line]
    assert "bench run" in commands and "doctor" in commands
    for command in commands:
        assert graft("help", *command.split()).returncode == 0
        section = page.split(f"\n## `graft {command}", 1)
        assert len(section) == 2, f"docs/cli.md has no section on graft {command}"
        section = section[1].split("\n## ")[0]
        for word in graft("help", *command.split()).stdout.replace(",", " ").split():
            if word.startswith("--") and word not in everywhere:
                assert f"`{word}`" in section, f"docs/cli.md: {command} lacks {word}"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["bensh"], "did you mean 'bench'"),
        (["bench", "scor"], "did you mean 'bench score'"),
        (["bench", "score", "--penalti", "1", LOG], "did you mean '--penalty'"),
        (["bench", "score"], "LOG is required"),
        (["bench", "score", "no-such.log"], "no-such.log"),
        (["bench", "score", "--penalty", "nan", LOG], "nan is not a number of at least 0"),
        (["bench", "score", "--penalty", "-1", LOG], "-1 is not a number of at least 0"),
        (["bench", "run", "--correct-at", "6", GRAPH], "6 is not a number from -10 to 5"),
        (["bench", "run", "--timeout", "1e300", GRAPH], "1e300 is not a number from 0.01"),
        (["graph", "show", "--format", "xml", GRAPH], "xml"),
        (["bench"], "needs a second word"),
        ([], "no command given"),
    ],
)
def test_a_wrong_request_is_2_and_says_why(arguments, words):
    result = graft(*arguments)
    assert result.returncode == 2
    assert words in result.stderr
    assert result.stdout == ""


def test_json_may_stand_before_or_behind_the_command():
    answers = [graft("--json", "bench", "score", LOG), graft("bench", "score", LOG, "--json")]
    assert [answer.returncode for answer in answers] == [0, 0]
    assert answers[0].stdout == answers[1].stdout
    assert next(iter(json.loads(answers[0].stdout))) == "schema"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_an_answer_that_cannot_be_written_is_no_success():
    with open("/dev/full", "w") as full:
        for arguments in (["bench", "score", LOG], ["graph", "show", GRAPH], ["--json", "graph", "stats", ROOT / "samples"]):
            result = graft(*arguments, capture_output=False, stdout=full, stderr=subprocess.PIPE)
            assert result.returncode == 2, arguments
            assert "No space left" in result.stderr


def test_a_device_given_as_output_is_written_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    result = graft("graph", "rewrite", "--passes", PASSES, GRAPH, "-o", pipe)
    assert result.returncode == 0, result.stderr
    assert b"graft_replacement_0" in os.read(reader, 1 << 16)
    os.close(reader)
    assert pipe.is_fifo()


def test_run_refuses_a_folder_with_results_before_it_starts(tmp_path):
    (tmp_path / "result.json").write_text("{}")
    result = graft("bench", "run", GRAPH, "--pass-dir", PASSES, "--out", tmp_path, env={"GRAFT_PYTHON": "/nonexistent"})
    assert result.returncode == 2
    assert "is not empty" in result.stderr


def test_tensors_beyond_the_memory_are_refused(tmp_path):
    graph = tmp_path / "huge"
    graph.mkdir()
    (graph / "model.py").write_text((GRAPH / "model.py").read_text())
    (graph / "graph_net.json").write_text("{}")
    (graph / "input_meta.py").write_text("")
    (graph / "weight_meta.py").write_text(
        'class A:\n    name = "x"\n    shape = [1048576, 1048576]\n    dtype = "torch.float32"\n'
    )
    assert graft("bench", "inputs", graph).returncode == 0
    result = graft("bench", "inputs", graph, "--out", tmp_path / "out")
    assert result.returncode == 3
    assert "memory" in result.stderr
    assert not (tmp_path / "out").exists()
