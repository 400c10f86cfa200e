#!/usr/bin/env python3
"""What the running CPython makes of the forms in data/forms.txt.

usage: for each version:  PYTHON make_forms.py > data/forms.3.X.txt

One line a form: its canonical text, `refused`, or `fault` where this CPython fails on its own (not used by the test).
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import oracle  # noqa: E402


def answer(form):
    try:
        return oracle.canonical(oracle.parse(form))
    except SyntaxError:
        return "refused"
    except ValueError:
        return "fault"


def main():
    forms = (pathlib.Path(__file__).resolve().parent / "data" / "forms.txt").read_bytes().split(b"#====\n")
    for form in forms:
        sys.stdout.buffer.write(answer(form).encode("utf-8") + b"\n")


main()
