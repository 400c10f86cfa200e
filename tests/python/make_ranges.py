#!/usr/bin/env python3
"""Where the running CPython sees the nodes of the forms in data/forms.txt.

usage: python3.13 make_ranges.py > data/ranges.3.13.txt

One line a form: `Class line column end_line end_column` of every node that has a place, in pre-order, joined by ';', or `refused`.
"""

import ast
import pathlib
import warnings

warnings.simplefilter("ignore")


def ranges(node):
    if "lineno" in node._attributes:
        yield f"{type(node).__name__} {node.lineno} {node.col_offset} {node.end_lineno} {node.end_col_offset}"
    for child in ast.iter_child_nodes(node):
        yield from ranges(child)


def answer(form):
    try:
        return ";".join(ranges(ast.parse(form)))
    except (SyntaxError, ValueError):
        return "refused"


def main():
    forms = (pathlib.Path(__file__).resolve().parent / "data" / "forms.txt").read_bytes().split(b"#====\n")
    for form in forms:
        print(answer(form))


main()
