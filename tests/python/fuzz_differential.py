#!/usr/bin/env python3
"""Random programs through Graft's parser and CPython's: the same canonical text or a refusal from both.

usage: fuzz_differential.py [--seconds N | --rounds N] [--seed N] [--program GRAFT] [--keep FOLDER]

Statements and lines of CPython's own test files are cut out, changed at random (tokens swapped, dropped, doubled, exchanged with
tokens of other places, characters changed) and given to both sides, some thousands at a time. The same seed gives the same
programs. Every difference is printed, made as small as possible, and kept in the folder. Exit code 0 when there was none.
"""

import argparse
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import sysconfig
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import differential  # noqa: E402
import oracle  # noqa: E402

BATCH = 2000
TOKEN = re.compile(
    r"""[ \t]*\n[ \t]*|[ \t]+|\#[^\n]*|(?:[rbufRBUF]{0,2})(?:\"\"\"|'''|"|')|[^\W\d]\w*|[\d][\w.]*|\*\*=?|//=?|>>=?|<<=?|:=|->|\.\.\.|[-+*/%&|^@<>=!]=|.""",
    re.S,
)
WORDS = (
    "if else elif for while in not is and or lambda def class return yield from import as with try except finally raise del pass async "
    "await match case type global nonlocal assert None True False * ** / // : := , . ( ) [ ] { } = == != < > -> @ ; ~ - + ... \\\n \n "
    "\n\t \n\x0c 'a' \"b\" f'{x}' f\"{x!r:>{y}}\" f'{x=}' rb'c' u'd' '''e''' {x} 0 0x1f 1e5 2j 1_0 _ x.y *a **b é ﬁ"
).split(" ")
WORDS = [word for word in WORDS if word]


def pieces():
    """Texts to change: whole short files and the definitions of CPython's tests."""
    found = []
    folder = pathlib.Path(sysconfig.get_paths()["stdlib"])
    names = sorted((folder / "test").glob("test_*.py")) or sorted(folder.glob("*.py"))
    favourites = ("grammar", "syntax", "fstring", "patma", "exceptions", "named_expr", "positional", "unpack", "string_lit", "tokenize",
                  "type", "coroutines", "generators", "decorators", "with", "annotations", "ast", "eof", "unicode_ident", "dict", "lambda")  # fmt: skip
    for path in names:
        try:
            text = path.read_text(encoding="utf-8")
            tree = oracle.parse(text)
        except (UnicodeDecodeError, *oracle.REFUSALS):
            continue
        lines = text.splitlines(True)
        weight = 4 if any(word in path.name for word in favourites) else 1
        for _, node in oracle.definitions(tree.body):
            size = node.end_lineno - node.lineno
            if 1 <= size <= 25:
                first = lines[node.lineno - 1]
                indent = len(first) - len(first.lstrip())
                body = "".join(
                    line[indent:] if not line[:indent].strip() else line for line in lines[node.lineno - 1 : node.end_lineno]
                )
                found += [body] * weight
    forms = pathlib.Path(__file__).resolve().parent / "data" / "forms.txt"
    if forms.exists():
        found += forms.read_text(encoding="utf-8").split("#====\n") * 8
    return found


def mutate(rng, texts):
    tokens = TOKEN.findall(rng.choice(texts))
    if not tokens:
        return ""
    if len(tokens) > 60 and rng.random() < 0.7:
        # A run of lines of the text.
        starts = [i for i, token in enumerate(tokens) if "\n" in token]
        if len(starts) > 2:
            a, b = sorted(rng.sample(range(len(starts)), 2))
            tokens = tokens[starts[a] + 1 : starts[b] + 1]
    for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3, 5))):
        if not tokens:
            break
        at = rng.randrange(len(tokens))
        kind = rng.randrange(9)
        if kind == 0:
            del tokens[at]
        elif kind == 1:
            tokens.insert(at, rng.choice(tokens))
        elif kind == 2:
            other = rng.randrange(len(tokens))
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif kind == 3:
            tokens[at] = rng.choice(WORDS)
        elif kind == 4:
            tokens.insert(at, rng.choice(WORDS))
        elif kind == 5:
            other = TOKEN.findall(rng.choice(texts))
            if other:
                start = rng.randrange(len(other))
                tokens[at:at] = other[start : start + rng.randrange(1, 6)]
        elif kind == 6:
            del tokens[at : at + rng.randrange(1, 5)]
        elif kind == 7:
            token = tokens[at]
            spot = rng.randrange(len(token) + 1)
            tokens[at] = token[:spot] + rng.choice("\\'\"{}[]()#\n\t :;=.,0eEjJxX_!<>*&\x0c\xa0é\u00b2\u2028") + token[spot:]
        else:
            token = tokens[at]
            spot = rng.randrange(len(token) + 1)
            tokens[at] = token[:spot] + token[spot + 1 :]
    text = "".join(tokens)
    if rng.random() < 0.05:
        text = text.rstrip("\n")
    if rng.random() < 0.03:
        text = text.replace("\n", rng.choice(("\r\n", "\r")))
    return text


def graft_answers(program, texts, profile):
    """ast-v1 or None for every text."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "texts.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            for number, text in enumerate(texts):
                file.write(json.dumps({"name": str(number), "model.py": text}) + "\n")
        process = subprocess.run(
            [program, "python", "hash", "--profile", profile, "--jobs", "1", "-q", "--json", path],
            stdout=subprocess.PIPE,
            check=False,
        )
        if process.returncode not in (0, 1):
            return None
        return json.loads(process.stdout)["results"]


def cpython_answer(text):
    try:
        return oracle.ast_hash(oracle.parse(text.encode("utf-8"))), ""
    except oracle.REFUSALS as error:
        return None, "%s: %s (line %s)" % (type(error).__name__, error, getattr(error, "lineno", "?"))


def differs(program, text, profile):
    answers = graft_answers(program, [text], profile)
    return answers is None or answers[0]["ast"] != cpython_answer(text)[0]


def shrink(program, text, profile, budget=150):
    """A smaller text that still differs: lines first, then tokens."""
    for split in (lambda t: t.splitlines(True), TOKEN.findall):
        parts = split(text)
        size = max(1, len(parts) // 2)
        while size and budget > 0:
            at = 0
            while at < len(parts) and budget > 0:
                candidate = parts[:at] + parts[at + size :]
                budget -= 1
                if differs(program, "".join(candidate), profile):
                    parts = candidate
                else:
                    at += size
            size //= 2
        text = "".join(parts)
    return text


def run(program, seed, seconds=None, rounds=None, keep=None, limit=20):
    """(programs tried, accepted by both, list of differences)."""
    rng = random.Random(seed)
    texts = pieces()
    profile = "%d.%d" % sys.version_info[:2]
    started = time.monotonic()
    tried = accepted = number = 0
    found = []
    while (
        (rounds is None or number < rounds) and (seconds is None or time.monotonic() - started < seconds) and len(found) < limit
    ):
        number += 1
        batch = [mutate(rng, texts) for _ in range(BATCH)]
        answers = graft_answers(program, batch, profile)
        if answers is None:
            # A crash: which text it was is found one by one.
            answers = [(graft_answers(program, [text], profile) or [{"ast": "crash"}])[0] for text in batch]
        for text, answer in zip(batch, answers):
            expected, message = cpython_answer(text)
            tried += 1
            accepted += expected is not None and answer["ast"] == expected
            if answer["ast"] != expected and len(found) < limit:
                small = shrink(program, text, profile)
                now = graft_answers(program, [small], profile)
                found.append({"text": small, "graft": now[0] if now else "crash", "cpython": cpython_answer(small)})
                if keep:
                    os.makedirs(keep, exist_ok=True)
                    pathlib.Path(keep, "%d-%d.py" % (seed, len(found))).write_bytes(small.encode("utf-8"))
    return tried, accepted, found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=differential.default_program())
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="folder for texts that differ")
    parser.add_argument("--limit", type=int, default=20, help="stop after so many differences")
    options = parser.parse_args()
    if options.seconds is None and options.rounds is None:
        options.rounds = 5
    tried, accepted, found = oracle.with_deep_stack(
        run, options.program, options.seed, options.seconds, options.rounds, options.keep, options.limit
    )
    for one in found:
        print("-" * 60)
        print(repr(one["text"]))
        print(one["text"])
        print("graft:  ", one["graft"])
        print("CPython:", one["cpython"])
    print("%d programs, %d accepted by both with the same tree, %d differences" % (tried, accepted, len(found)))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
