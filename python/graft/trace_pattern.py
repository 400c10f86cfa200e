"""Traces functions of a pass file: `python -m graft.trace_pattern PATH FUNCTION...`, started by `graft`, never by hand.

stdin is the text of the file, descriptor 3 a file that gets one JSON document:

    {"schema", "torch", "functions": {name: {"nodes": [...]}}}                    nodes as graft.capture writes them, each with
                                                                                  "lines": [first, last, column] of the file
    {"schema", "error": {"class", "message", "stage", "line", "column"}}          stage: torch, load or trace

The functions run under torch.fx's symbolic tracer. Two things are recorded beyond what it records: `x += y` and `x[i] = y` are
the steps of the graph that they are in the text (torch.fx itself reads the first as `x + y` and refuses the second).
"""

from __future__ import annotations

import fcntl
import itertools
import json
import linecache
import operator
import os
import resource
import sys
import types

SCHEMA = "graft/traced-pattern/v1"
STARTED = b"started"
_DOCUMENT = 3
_MEMORY = 4 << 30  # bytes beyond what torch takes
_FILE = 64 << 20  # bytes of the largest file
_IN_PLACE = "iadd isub imul imatmul itruediv imod ipow ilshift irshift ior ixor iand ifloordiv".split()


def confine() -> None:
    """Limits that code which runs later cannot lift."""
    with open("/proc/self/status") as status:
        used = next(int(line.split()[1]) << 10 for line in status if line.startswith("VmData:"))
    for kind, limit in ((resource.RLIMIT_DATA, used + _MEMORY), (resource.RLIMIT_FSIZE, _FILE), (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(kind)[1]
        limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(kind, (limit, limit))


def _place(code: types.CodeType, instruction: int, line: int, lines: list[str]) -> list[int]:
    """[first line, last line, column from 1] of an instruction; where Python keeps no columns (3.10) the column is 0."""
    positions = getattr(code, "co_positions", None)
    if positions is None:
        return [line, line, 0]
    first, last, column, _ = next(itertools.islice(positions(), instruction // 2, None), (None,) * 4)
    if first is None or column is None or not 0 < first <= len(lines):
        return [line, line, 0]
    before = lines[first - 1].encode()[:column]
    return [first, last or first, len(before.decode(errors="replace")) + 1]


def _error_place(error: BaseException, file: str, lines: list[str]) -> list[int]:
    """Where in the file the error was raised, or the file's call that led to it."""
    if isinstance(error, SyntaxError) and error.filename == file:
        return [error.lineno or 0, error.lineno or 0, error.offset or 0]
    place, trace = [0, 0, 0], error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == file:
            place = _place(code, trace.tb_lasti, trace.tb_lineno, lines)
        trace = trace.tb_next
    return place


def load(text: str, path: str) -> types.ModuleType:
    """Executes the text as the module of a pass file, with the parent of its folder at the front of the import path."""
    file = path or "<pass>"
    module = types.ModuleType(os.path.splitext(os.path.basename(file))[0])
    module.__file__ = file
    if path:
        sys.path.insert(0, os.path.dirname(os.path.dirname(path)))
    sys.modules.setdefault(module.__name__, module)
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), module.__dict__)
    return module


def trace(function, file: str, lines: list[str]) -> dict:
    """The graph of a function: {"nodes": [...]}. `file` and `lines` are what the function was compiled from."""
    import torch.fx as fx

    from graft import capture, pattern

    class PatternProxy(fx.Proxy):
        def __setitem__(self, index, value):
            self.tracer.create_proxy("call_function", operator.setitem, (self, index, value), {})

    def in_place(target):
        return lambda self, other: self.tracer.create_proxy("call_function", target, (self, other), {})

    for name in _IN_PLACE:
        setattr(PatternProxy, f"__{name}__", in_place(getattr(operator, name)))

    class PatternTracer(fx.Tracer):
        def proxy(self, node):
            return PatternProxy(node, self)

        def create_node(self, *args, **kwargs):
            node = super().create_node(*args, **kwargs)
            frame = sys._getframe(1)
            while frame is not None and frame.f_code.co_filename != file:
                frame = frame.f_back
            if frame is not None:
                node.meta["lines"] = _place(frame.f_code, frame.f_lasti, frame.f_lineno, lines)
            return node

    hinted = set()

    def observe(hint, value):
        if not isinstance(value, fx.Proxy):
            raise TypeError(f"{hint}() needs a value that the pattern computes")
        hinted.add(value.node)

    pattern._observer = observe
    try:
        graph = PatternTracer().trace(function)
    finally:
        pattern._observer = None
    document = capture.graph_document(graph)
    for node, entry in zip(graph.nodes, document["nodes"]):
        del entry["value"]  # nothing is known of values here
        if "lines" in node.meta:
            entry["lines"] = node.meta["lines"]
        if node in hinted:
            entry["commutative"] = True
    return document


def document(text: str, path: str, functions: list[str]) -> dict:
    """The document for a file; what its code raises becomes the error in it."""
    import torch

    file, lines, stage = path or "<pass>", text.split("\n"), "load"
    try:
        module = load(text, path)
        stage = "trace"
        traced = {name: trace(getattr(module, name), file, lines) for name in functions}
        return {"schema": SCHEMA, "torch": torch.__version__.split("+")[0], "functions": traced}
    except BaseException as error:
        line, _, column = _error_place(error, file, lines)
        return {"schema": SCHEMA, "error": _describe(error, stage) | {"line": line, "column": column}}


def _describe(error: BaseException, stage: str) -> dict:
    try:
        message = str(error)
    except Exception:
        message = ""
    return {"class": type(error).__name__, "message": message[:4000], "stage": stage}


def main(arguments: list[str]) -> int:
    if len(arguments) < 2:
        print("graft.trace_pattern is started by `graft`", file=sys.stderr)
        return 2
    # Out of the way of code that uses low numbers, and not inherited by what it starts.
    descriptor = fcntl.fcntl(_DOCUMENT, fcntl.F_DUPFD_CLOEXEC, 100)
    os.close(_DOCUMENT)
    process = os.getpid()

    def answer(content: bytes) -> None:
        os.ftruncate(descriptor, 0)
        while content:
            written = os.pwrite(descriptor, content, os.fstat(descriptor).st_size)
            content = content[written:]

    path, *functions = arguments
    text = sys.stdin.buffer.read().decode("utf-8", "surrogatepass")
    try:
        import torch.fx  # noqa: F401
    except BaseException as error:
        answer(json.dumps({"schema": SCHEMA, "error": _describe(error, "torch")}).encode())
        return 1
    confine()
    answer(STARTED)
    result = json.dumps(document(text, path, functions)).encode("utf-8", "surrogatepass")
    # A process that the file forked comes here as well, but has nothing to say. Nothing that the file left behind (threads,
    # exit handlers) keeps this one from ending.
    if os.getpid() == process:
        answer(result)
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
