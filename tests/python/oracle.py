"""What CPython itself says: the canonical text of its own syntax trees, and the source of definitions by its own inspect.

Written for speed and for every CPython from 3.8 on; nothing of Graft is used here.
"""

import ast
import hashlib
import inspect
import io
import os
import re
import sys
import textwrap
import threading
import tokenize
import warnings

# What refuses a text: malformed programs, NUL bytes on some versions, ints that cannot be printed, nesting beyond a fixed limit.
REFUSALS = (SyntaxError, ValueError, RecursionError, MemoryError, LookupError)

_FIELDS = {}


def _write(node, out):
    """Appends the pieces of a node's canonical text."""
    cls = type(node)
    names = _FIELDS.get(cls)
    if names is None:
        names = _FIELDS[cls] = [(name, name + "=") for name in cls._fields]
    out.append(cls.__name__)
    separator = "("
    for name, label in names:
        value = getattr(node, name, None)
        if value is None or value == []:
            continue
        out.append(separator)
        separator = ","
        out.append(label)
        kind = type(value)
        if kind is str:
            out.append(repr(value))
        elif kind is list:
            mark = "["
            for item in value:
                out.append(mark)
                mark = ","
                if isinstance(item, ast.AST):
                    _write(item, out)
                else:
                    out.append(repr(item))
            out.append("]")
        elif isinstance(value, ast.AST):
            _write(value, out)
        else:
            out.append(repr(value))
    out.append("()" if separator == "(" else ")")


def canonical(tree):
    out = []
    _write(tree, out)
    return "".join(out)


def parse(source):
    """ast.parse without warnings about escapes and comparisons."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def ast_hash(tree):
    return "ast-v1:" + hashlib.sha256(canonical(tree).encode("utf-8")).hexdigest()


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def definitions(statements, prefix=""):
    """Yields (qualified name, node) in text order."""
    for statement in statements:
        if isinstance(statement, _DEFINITIONS):
            name = prefix + statement.name
            yield name, statement
            is_class = isinstance(statement, ast.ClassDef)
            yield from definitions(statement.body, name + ("." if is_class else ".<locals>."))
            continue
        for field in ("body", "handlers", "orelse", "finalbody", "cases"):
            inner = getattr(statement, field, None)
            if isinstance(inner, list):
                yield from definitions(inner, prefix)


def file_lines(data):
    """The lines inspect works on: linecache's reading of a file."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    text = io.TextIOWrapper(io.BytesIO(data), encoding).read()
    lines = io.StringIO(text).readlines()
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    return lines


_LOOKS_LIKE_DEFINITION = re.compile(r"^(\s*def\s)|(\s*async\s+def\s)|(.*(?<!\w)lambda(:|\s))|^(\s*@)")


def definition_lines(lines, node):
    """First and last line, from 1, as inspect.getsource would take them for this very definition."""
    is_class = isinstance(node, ast.ClassDef)
    # 3.8 finds classes by their `class` line.
    decorated = node.decorator_list and not (is_class and sys.version_info < (3, 9))
    first = node.decorator_list[0].lineno if decorated else node.lineno
    number = first - 1
    if not is_class and sys.version_info < (3, 13):
        while number > 0 and not _LOOKS_LIKE_DEFINITION.match(lines[number]):
            number -= 1
    return number + 1, number + len(inspect.getblock(lines[number:]))


def evidence(text):
    """(source-v1, ast-v1 or None) of a text."""
    source = "source-v1:" + hashlib.sha256(text.encode("utf-8")).hexdigest()
    try:
        return source, ast_hash(parse(textwrap.dedent(text)))
    except REFUSALS:
        return source, None


def examine(data, with_definitions):
    """What is to be compared for one file: {"ast", "line" of the error, "definitions": [(name, first, last, source, ast)]}."""
    try:
        tree = parse(data)
        result = {"ast": ast_hash(tree), "line": None, "message": None, "definitions": []}
    except REFUSALS as error:
        line = getattr(error, "lineno", None)
        return {"ast": None, "line": line, "message": "%s: %s" % (type(error).__name__, error), "definitions": []}
    if with_definitions:
        lines = file_lines(data)
        for name, node in definitions(tree.body):
            first, last = definition_lines(lines, node)
            source, digest = evidence("".join(lines[first - 1 : last]))
            result["definitions"].append((name, first, last, source, digest))
    return result


def python_files(root):
    """Every *.py below a folder, as paths sorted by their bytes; links to folders are not followed."""
    found = []
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.splitext(name)[1] == ".py" and os.path.isfile(path):
                found.append(path)
    return sorted(found, key=os.fsencode)


def with_deep_stack(function, *arguments):
    """Runs a function on a thread with a stack for very deep trees."""
    box = []
    sys.setrecursionlimit(200000)
    threading.stack_size(1 << 29)
    thread = threading.Thread(target=lambda: box.append(function(*arguments)))
    thread.start()
    thread.join()
    return box[0]
