"""What a user gets for wrong input: exit codes, messages that name the place, nothing written, nothing left running."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = pathlib.Path(os.environ.get("GRAFT_PROGRAM", ROOT / "build" / "graft"))
SAMPLE = ROOT / "samples" / "rms_norm"
ORDER = "sorted_output_pass_rule_names.json"

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not built")


def graft(*arguments, **options):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300, **options)


def need_torch():
    if subprocess.run([sys.executable, "-c", "import torch, graft._core"], capture_output=True).returncode != 0:
        pytest.skip("torch or the package is absent")


def evaluate(sample, out, *arguments):
    need_torch()
    environment = {**os.environ, "GRAFT_PYTHON": sys.executable}
    return graft(
        "bench", "run", sample, "--warmup", 1, "--trials", 5, "--timeout", 120, "--out", out, *arguments, env=environment
    )


@pytest.fixture
def sample(tmp_path):
    """A small sample that can be broken."""
    folder = tmp_path / "sample"
    shutil.copytree(SAMPLE / "graphs" / "rms_norm_small", folder / "graphs" / "g")
    (folder / "graph_list.txt").write_text("graphs/g\n")
    shutil.copytree(SAMPLE / "pass_dir", folder / "pass_dir")
    return folder


def change(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


# --- the command line


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["helo"], "no command 'helo'"),
        (["bench", "rum"], "did you mean 'bench run'?"),
        (["doctor", "--jsno"], "did you mean '--json'?"),
        (["graph", "show", "x", "--format", "pyton"], "did you mean 'python'?"),
        (["bench", "run", "x", "--trials", "0"], "--trials: 0 is not a number"),
        (["bench", "run", "x", "--timeout", "nan"], "--timeout: nan is not a number"),
        (["bench", "run"], "SAMPLE is required"),
    ],
)
def test_a_slip_on_the_command_line_is_named(words, said):
    result = graft(*words)
    assert result.returncode == 2
    assert said in result.stderr
    assert result.stdout == ""
    assert "1e+18" not in result.stderr and ".000000" not in result.stderr


def test_a_far_word_is_not_guessed_from_the_first_word():
    assert "did you mean" not in graft("bench", "nope").stderr


def test_help_says_what_to_type():
    result = graft("help", "bench", "run")
    assert result.returncode == 0
    assert result.stdout.startswith("usage: graft bench run [OPTIONS] SAMPLE...\n")
    assert "1e+18" not in result.stdout
    assert "--trials N" in result.stdout and "[100]" in result.stdout
    assert graft("bench", "run", "--help").stdout == result.stdout


def test_control_characters_of_input_do_not_reach_the_terminal(tmp_path):
    file = tmp_path / "r.jsonl"
    record = json.dumps({"name": "\x1b[31mred", "model.py": "", "weight_meta.py": "", "graph_net.json": "{}"})
    file.write_text(record + "\n" + record + "\n")
    result = graft("bench", "unpack", file, tmp_path / "out")
    assert result.returncode == 2
    assert "\x1b" not in result.stderr and "\\x1b[31mred" in result.stderr


def test_a_file_without_records_is_wrong_and_nothing_is_made(tmp_path):
    file = tmp_path / "r.jsonl"
    file.write_text("\n \n")
    result = graft("bench", "unpack", file, tmp_path / "out")
    assert result.returncode == 2
    assert "no record" in result.stderr
    assert not (tmp_path / "out").exists()


# --- samples


def test_a_parameter_without_a_tensor_is_named(sample, tmp_path):
    change(sample / "graphs" / "g" / "model.py", "def forward(self, in_0", "def forward(self, more, in_0")
    result = evaluate(sample, tmp_path / "out")
    assert result.returncode == 1
    assert "parameter 'more' of forward() has no tensor in weight_meta.py" in result.stdout


def test_the_reason_of_a_no_is_printed(sample, tmp_path):
    change(sample / "pass_dir" / "rms_norm.py", "def pattern(x, weight):", "def pattern(x, weight:")
    result = evaluate(sample, tmp_path / "out")
    assert result.returncode == 1
    assert "rms_norm.py:8:12: '(' was never closed" in result.stdout
    assert result.stdout.splitlines()[-1].startswith("0 of 1 sample right (1 crashed)")


def test_a_message_of_a_pass_is_printed_harmlessly(sample, tmp_path):
    start = "def rms_norm(x, weight):\n"
    change(sample / "pass_dir" / "rms_norm.py", start, start + "    raise ValueError('\\x1b[31mred\\nnext line')\n")
    result = evaluate(sample, tmp_path / "out")
    assert result.returncode == 1
    assert "ValueError: \\x1b[31mred\n    next line" in result.stdout
    assert "\x1b" not in result.stdout


def processes_with(word):
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if word.encode() in (folder / "cmdline").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
            except OSError:
                pass
    return found


def test_a_process_that_left_its_group_does_not_outlive_the_evaluation(sample, tmp_path):
    word = f"86399.{os.getpid()}"
    file = sample / "pass_dir" / "rms_norm.py"
    start = "def rms_norm(x, weight):\n"
    change(file, start, start + f"    subprocess.Popen(['sleep', '{word}'], start_new_session=True)\n")
    change(file, "import torch\n", "import subprocess\n\nimport torch\n")
    result = evaluate(sample, tmp_path / "out")
    assert result.returncode == 0, result.stdout + result.stderr  # the pass ran, and its numbers are right
    left = processes_with(word)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []


def test_a_signal_that_arrives_twice_at_once_is_one_interrupt(sample, tmp_path):
    """As timeout(1) sends it: to the process and to its group."""
    need_torch()
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    environment = {**os.environ, "GRAFT_PYTHON": sys.executable, "TMPDIR": str(temporary)}
    command = [PROGRAM, "bench", "run", sample, "--trials", "1000000", "--out", tmp_path / "out"]
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    line = ""
    while not line.startswith("[1/1]"):
        line = program.stderr.readline()
        assert line, "ended before the evaluation began"
    time.sleep(1)
    program.send_signal(signal.SIGTERM)
    time.sleep(0.01)
    program.send_signal(signal.SIGTERM)
    out, _ = program.communicate(timeout=60)
    assert program.returncode == 130
    assert "interrupted" in out
    assert json.loads((tmp_path / "out" / "result.json").read_text())["interrupted"] is True
    assert list(temporary.iterdir()) == []
