#!/usr/bin/env python3
"""Writes src/python/printable_table.inc: the characters repr() prints verbatim, for each CPython.

usage: make_printable_table.py PYTHON3.8 PYTHON3.9 ... > src/python/printable_table.inc

Every argument is an interpreter; its own str.isprintable() is asked about all code points. Characters only ever become
printable, so one table with the first minor version of each range is enough; the script stops if that is not so.
"""

import subprocess
import sys

ASK = r"""
import sys
data = bytes(chr(c).isprintable() for c in range(0x110000))
sys.stdout.buffer.write(bytes([sys.version_info[1]]) + data)
"""


def main():
    answers = {}
    for interpreter in sys.argv[1:]:
        out = subprocess.run([interpreter, "-c", ASK], stdout=subprocess.PIPE, check=True).stdout
        answers[out[0]] = out[1:]
    minors = sorted(answers)
    first = bytearray(0x110000)  # 0: never printable
    for minor in minors:
        table = answers[minor]
        for code in range(0x110000):
            if table[code] and not first[code]:
                first[code] = minor
            elif not table[code] and first[code]:
                sys.exit("U+%04X stops being printable in 3.%d" % (code, minor))
    print(
        "// Made by scripts/make_printable_table.py from CPython 3.%d to 3.%d. {first, last, minor version}."
        % (minors[0], minors[-1])
    )
    start = 0
    line = ""
    for code in range(1, 0x110001):
        if code == 0x110000 or first[code] != first[start]:
            if first[start] and start >= 0x80 or (first[start] and code > 0x80):
                item = "{0x%X, 0x%X, %d}," % (start, code - 1, first[start])
                if len(line) + len(item) + 1 > 110:
                    print(line)
                    line = ""
                line += (" " if line else "") + item
            start = code
    print(line)


main()
