"""Writes src/graph/torch_signatures.inc: the signatures, aliases and effects of torch's functions, from torch itself.

    python scripts/make_torch_signatures.py [--check]

Run it with the torch the tables shall describe; its version is recorded in the file. --check only says whether the file
is what would be written.

One line a fact, fields separated by tabs:

    A <name> <canonical name>            two names of one function object
    B <name> <operator> <overloads>      a function of torch's C++ bindings; methods of Tensor are named ".<method>"
    P <name> <flags> <parameters> <dispatch>   a function written in Python

An overload is "<flags>#<parameters>-><results>", overloads are separated by ";", parameters by ",": "name:type=default@alias"
with "*" before the first keyword-only one. alias is the set of the schema ("a", "a!" where it is written to). flags: "r" draws
random numbers; "m" may return (a view of) its first argument though the schema does not say so; "v", of Python functions, is
reached through a wrapper of *args and **kwargs. Spaces stand for commas inside a default. dispatch is the form in which the
function hands its arguments to __torch_function__: "positional|keywords".
"""

import argparse
import ast
import inspect
import pathlib
import re
import sys
import textwrap

import torch
from torch.fx.node import _get_qualified_name

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = ROOT / "src" / "graph" / "torch_signatures.inc"
MODULES = {
    "torch": torch,
    "torch.functional": torch.functional,
    "torch.nn.functional": torch.nn.functional,
    "torch._C._nn": torch._C._nn,
    "torch._VF": torch._VF,
    "torch.special": torch.special,
    "torch.linalg": torch.linalg,
    "torch.fft": torch.fft,
    "torch._C._special": torch._C._special,
    "torch._C._linalg": torch._C._linalg,
    "torch._C._fft": torch._C._fft,
    "torch.autograd": torch.autograd,
    "torch.amp": torch.amp,
    "torch.amp.autocast_mode": torch.amp.autocast_mode,
}
LAST = re.compile(r"(.*[\w\]\)?*!])\s+(\w+)(?:=(.*))?$")


def read_type(text):
    """("Tensor?", "a!") of "Tensor(a!)?"."""
    alias = ""
    found = re.search(r"\(([^)]*)\)", text)
    if found and text.split("(")[0] in ("Tensor", "t"):
        alias = found.group(1).split("|")[-1].strip().replace(" ", "")
        text = text[: found.start()] + text[found.end() :]
    return text.replace("SymInt", "int").replace(" ", ""), alias


def split_top(text):
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        if c in "([":
            depth += 1
        elif c in ")]":
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    if text[start:].strip():
        parts.append(text[start:].strip())
    return parts


def default_text(value):
    if isinstance(value, torch.Tensor) or callable(value):
        return None
    if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
        return repr(value)
    if isinstance(value, torch.device):
        return None
    if isinstance(value, (list, tuple)):
        inner = [default_text(item) for item in value]
        if None in inner:
            return None
        text = " ".join(inner)
        return f"[{text}]" if isinstance(value, list) else f"({text})"
    if value is None or isinstance(value, (bool, int, float, str)):
        text = repr(value)
        return text if not re.search(r"[,;\t@#>]", text) else None
    return None


class Overload:
    def __init__(self, op_name, overload_name):
        self.packet = getattr(torch.ops.aten, op_name)
        self.op = getattr(self.packet, overload_name)
        self.schema = self.op._schema
        self.random = torch.Tag.nondeterministic_seeded in self.op.tags
        # Batch norm bears the tag for its running statistics, which it may write; its result is always new.
        statistics = any(argument.name == "running_mean" for argument in self.schema.arguments)
        self.may_alias = torch.Tag.maybe_aliasing_or_mutating in self.op.tags and not statistics

    def text(self, method):
        whole = str(self.schema)
        inside = whole[whole.index("(") + 1 : whole.rindex(") -> ")]
        written = {}
        for part in split_top(inside):
            if part == "*":
                continue
            found = LAST.match(part)
            written[found.group(2)] = read_type(found.group(1))
        parts, star = [], False
        for index, argument in enumerate(self.schema.arguments):
            if argument.kwarg_only and not star:
                parts.append("*")
                star = True
            kind, alias = written[argument.name]
            name = argument.name
            if index == 0 and name == "self" and not method:
                name = "input"
            text = f"{name}:{kind}"
            if argument.has_default_value():
                default = default_text(argument.default_value)
                text += "=" + ("?" if default is None else default)
            if alias:
                text += "@" + alias
            parts.append(text)
        returns = whole[whole.rindex(") -> ") + 5 :]
        if returns.startswith("("):
            returns = returns[1:-1]
        results = []
        for part in split_top(returns):
            found = re.match(r"(.*\)\S*|\S+)(?:\s+\w+)?$", part)
            results.append(read_type(found.group(1))[1])
        return ("r" if self.random else "") + ("m" if self.may_alias else "") + "#" + ",".join(parts) + "->" + ",".join(results)


def overloads_of(op_name):
    packet = getattr(torch.ops.aten, op_name, None)
    if packet is None:
        return []
    found = []
    for name in packet.overloads():
        if any(word in name for word in ("Dimname", "dimname", "names", "hacked_twin", "deprecated")):
            continue
        overload = Overload(op_name, name)
        kinds = [str(argument.type) for argument in overload.schema.arguments]
        # TorchScript's own overloads on plain numbers and lists are no part of the Python API.
        if not torch._C._dispatch_has_kernel(overload.op._name if hasattr(overload.op, "_name") else ""):
            continue
        if any("Dimname" in kind for kind in kinds):
            continue
        found.append(overload)

    # Those without `out` first, and what takes fewer arguments before what takes more.
    def order(overload):
        out = any(argument.is_out for argument in overload.schema.arguments)
        return (out, len(overload.schema.arguments))

    return sorted(found, key=order)


def builtin_lines():
    lines = []
    spaces = {
        "torch": torch,
        "torch._C._nn": torch._C._nn,
        "torch._C._special": torch._C._special,
        "torch._C._linalg": torch._C._linalg,
        "torch._C._fft": torch._C._fft,
    }
    for prefix, space in spaces.items():
        for name in sorted(dir(space)):
            function = getattr(space, name, None)
            if not isinstance(function, type(torch.add)) or name.startswith("__"):
                continue
            if canonical_name(prefix, name, function) != f"{prefix}.{name}":
                continue
            overloads = overloads_of(name)
            if overloads:
                lines.append(f"B\t{prefix}.{name}\t{name}\t" + ";".join(o.text(False) for o in overloads))
    for name in sorted(dir(torch.Tensor)):
        if name.startswith("__") or not callable(getattr(torch.Tensor, name, None)):
            continue
        overloads = [
            o
            for o in overloads_of(name)
            if o.schema.arguments
            and o.schema.arguments[0].name == "self"
            and not any(argument.is_out for argument in o.schema.arguments)
        ]
        if overloads:
            lines.append(f"B\t.{name}\t{name}\t" + ";".join(o.text(True) for o in overloads))
    return lines


def canonical_name(prefix, name, function):
    module = getattr(function, "__module__", None)
    own = getattr(function, "__name__", name)
    for candidate in (f"{module}.{own}" if module else None, f"torch.{own}"):
        if candidate and resolve(candidate) is function:
            return candidate
    try:
        candidate = _get_qualified_name(function)
        if resolve(candidate) is function:
            return candidate
    except (RuntimeError, AttributeError):
        pass
    return f"{prefix}.{name}"


def resolve(dotted):
    parts = dotted.split(".")
    value = {"torch": torch}.get(parts[0])
    for part in parts[1:]:
        value = getattr(value, part, None)
    return value


def operators_that(fact):
    words = set()
    for name in dir(torch.ops.aten):
        packet = getattr(torch.ops.aten, name)
        if not hasattr(packet, "overloads"):
            continue
        overloads = [Overload(name, o) for o in packet.overloads()]
        if any(getattr(overload, fact) for overload in overloads):
            words.add(name)
    return words


def python_functions():
    """(name, function the signature belongs to, reached through a wrapper)"""
    for prefix in ("torch.functional", "torch.nn.functional", "torch"):
        space = MODULES[prefix]
        for name in sorted(dir(space)):
            function = getattr(space, name, None)
            if not inspect.isfunction(function) or name.startswith("__"):
                continue
            if not getattr(function, "__module__", "").startswith("torch"):
                continue
            if canonical_name(prefix, name, function) != f"{prefix}.{name}":
                continue
            inner, wrapped = function, False
            if function.__code__.co_name == "fn" and function.__closure__:
                cells = dict(zip(function.__code__.co_freevars, function.__closure__))
                if "if_false" in cells:
                    inner, wrapped = cells["if_false"].cell_contents, True
            yield f"{prefix}.{name}", inner, wrapped


def dispatch_form(function):
    """How the source hands its arguments on: positional names, keyword names."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return ""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "handle_torch_function"):
            continue
        positional, keywords = node.args[2:], node.keywords
        if not all(isinstance(a, ast.Name) for a in positional):
            return ""
        if not all(k.arg and isinstance(k.value, ast.Name) and k.value.id == k.arg for k in keywords):
            return ""
        return ",".join(a.id for a in positional) + "|" + ",".join(k.arg for k in keywords)
    return ""


def python_lines():
    lines = []
    random = operators_that("random")
    aliasing = operators_that("may_alias")
    for name, function, wrapped in python_functions():
        try:
            signature = inspect.signature(function)
        except (ValueError, TypeError):
            continue
        parts, star = [], False
        for parameter in signature.parameters.values():
            if parameter.kind is parameter.VAR_POSITIONAL:
                parts.append(f"*{parameter.name}:any")
                star = True
                continue
            if parameter.kind is parameter.VAR_KEYWORD:
                parts.append(f"**{parameter.name}:any")
                continue
            if parameter.kind is parameter.KEYWORD_ONLY and not star:
                parts.append("*")
                star = True
            text = f"{parameter.name}:any"
            if parameter.default is not parameter.empty:
                default = default_text(parameter.default)
                text += "=" + ("?" if default is None else default)
            parts.append(text)
        try:
            source = inspect.getsource(function)
        except OSError:
            source = ""
        first = next(iter(signature.parameters), "input")
        draws = any(re.search(rf"\w\.{word}\(", source) for word in random)
        aliases = any(re.search(rf"\w\.{word}\(", source) for word in aliasing)
        aliases = aliases or re.search(rf"return {first}$", source, re.M) is not None
        flags = ("r" if draws else "") + ("m" if aliases else "") + ("v" if wrapped else "")
        lines.append(f"P\t{name}\t{flags}\t" + ",".join(parts) + "\t" + dispatch_form(function))
    return lines


def alias_lines():
    lines = []
    for prefix, space in MODULES.items():
        for name in sorted(dir(space)):
            function = getattr(space, name, None)
            if name.startswith("__") or inspect.isclass(function) or not callable(function):
                continue
            if not (inspect.isfunction(function) or isinstance(function, type(torch.add))):
                continue
            canonical = canonical_name(prefix, name, function)
            if canonical != f"{prefix}.{name}":
                lines.append(f"A\t{prefix}.{name}\t{canonical}")
    return lines


def render():
    lines = alias_lines() + builtin_lines() + python_lines()
    text = [
        "// Made by scripts/make_torch_signatures.py; see there for the format. Do not edit.",
        f'constexpr std::string_view kTorchVersion = "{torch.__version__.split("+")[0]}";',
        "constexpr std::string_view kTorchSignatures[] = {",
    ]
    for line in lines:
        text.append('    R"~(' + line + ')~",')
    text.append("};")
    return "\n".join(text) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    text = render()
    if options.check:
        same = TARGET.is_file() and TARGET.read_text() == text
        print(f"{TARGET.relative_to(ROOT)} is {'up to date' if same else 'out of date'}")
        return 0 if same else 1
    TARGET.write_text(text)
    print(f"{TARGET.relative_to(ROOT)}: {text.count(chr(10))} lines, torch {torch.__version__}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
