#!/usr/bin/env python3
r"""Writes the Unicode and codec tables of src/python. Run with CPython 3.11 (Unicode 14.0):

    python3.11 scripts/make_unicode_tables.py [--aliases PERL_NAME_PL]

unicode_tables.inc  ranges of XID_Start and XID_Continue, and what Normalization Form KC needs of identifier characters
unicode_names.inc   hashes of the names that "\N{...}" takes, in the order of their code points
codec_tables.inc    the single-byte source encodings: their spellings and the code points of the bytes 0x80 to 0xFF

unicodedata has no list of name aliases (LF, NBSP, ...); with --aliases the names in Perl's unicore/Name.pl are tried one by one.
"""

import argparse
import codecs
import encodings.aliases
import os
import pkgutil
import sys
import unicodedata

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src", "python")
WIDTH = 110
BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def write(name, parts):
    with open(os.path.join(FOLDER, name), "w", encoding="ascii") as out:
        out.write(f"// Made by scripts/make_unicode_tables.py from Unicode {unicodedata.unidata_version}.\n")
        for part in parts:
            out.write(part + "\n")


def array(kind, name, values):
    lines, line = [f"constexpr {kind} {name}[] = {{"], "   "
    for value in values:
        item = f" {value}," if isinstance(value, str) else f" {value:#x},"
        if len(line) + len(item) > WIDTH:
            lines.append(line)
            line = "   "
        line += item
    return "\n".join(lines + [line, "};"])


def ranges(test):
    """First and last code points of the runs where `test` holds, alternating."""
    result, inside = [], False
    for code in range(0x110000):
        holds = test(chr(code))
        if holds != inside:
            result.append(code if holds else code - 1)
            inside = holds
    return result + ([0x10FFFF] if inside else [])


def hangul(code):
    return 0xAC00 <= code <= 0xD7A3


def identifier_tables():
    yield array("uint32_t", "kStartRanges", ranges(str.isidentifier))
    yield array("uint32_t", "kContinueRanges", ranges(lambda c: ("a" + c).isidentifier()))
    codes, offsets, pool = [], [], []
    for code in range(0x80, 0x110000):
        if not ("a" + chr(code)).isidentifier() or hangul(code):
            continue
        full = unicodedata.normalize("NFKD", chr(code))
        if full != chr(code):
            codes.append(code)
            offsets.append(len(pool))
            pool.extend(map(ord, full))
    offsets.append(len(pool))
    yield "// kDecomposed[i] decomposes to kPool[kOffsets[i] .. kOffsets[i + 1])."
    yield array("uint32_t", "kDecomposed", codes)
    yield array("uint16_t", "kOffsets", offsets)
    yield array("uint32_t", "kPool", pool)
    classes = []
    for code in range(0x110000):
        value = unicodedata.combining(chr(code))
        if value:
            if classes and classes[-1][1] == code - 1 and classes[-1][2] == value:
                classes[-1][1] = code
            else:
                classes.append([code, code, value])
    yield "// {first, last, canonical combining class}"
    yield array("uint32_t", "kCombining[][3]", [f"{{{a:#x}, {b:#x}, {v}}}" for a, b, v in classes]).replace("[][3][]", "[][3]")
    pairs = []
    for code in range(0x110000):
        parts = unicodedata.decomposition(chr(code)).split()
        if len(parts) == 2 and not parts[0].startswith("<") and unicodedata.normalize("NFC", chr(code)) == chr(code):
            pairs.append((int(parts[0], 16), int(parts[1], 16), code))
    yield "// {first, second, composite}, sorted"
    yield array("uint32_t", "kComposites[][3]", [f"{{{a:#x}, {b:#x}, {c:#x}}}" for a, b, c in sorted(pairs)]).replace(
        "[][3][]", "[][3]"
    )


def name_hash(name):
    """FNV-1a of 64 bits, of which the upper 36 are kept."""
    value = 0xCBF29CE484222325
    for byte in name.encode("ascii"):
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value >> 28


def names(alias_file):
    entries = []
    for code in range(0x110000):
        name = unicodedata.name(chr(code), "")
        if name and not name.startswith(("HANGUL SYLLABLE ", "CJK UNIFIED IDEOGRAPH-")):
            entries.append((code, name))
    known = {name for _, name in entries}
    if alias_file:
        for line in open(alias_file, encoding="ascii", errors="replace"):
            name = line.strip()
            if not name or name in known or not name.isascii() or name.startswith(("HANGUL SYLL", "CJK UNIFIED")):
                continue
            try:
                text = eval('"\\N{' + name.replace('"', "").replace("}", "") + '}"')  # lookup() would take named sequences
            except SyntaxError:
                continue
            known.add(name)
            entries.append((ord(text), name))
    entries.sort()
    hashes = [name_hash(name) for _, name in entries]
    assert len(set(hashes)) == len(hashes), "two names with one hash: keep more bits"
    yield "// Six base-64 digits a name, most significant first; the names' code points are kNameRuns in order."
    digits = "".join("".join(BASE64[(value >> shift) & 63] for shift in range(30, -1, -6)) for value in hashes)
    lines = [digits[i : i + 102] for i in range(0, len(digits), 102)]
    yield "constexpr std::string_view kNameHashes[] = {"
    yield "\n".join(f'    "{line}",' for line in lines)
    yield "};"
    runs = []
    for code, _ in entries:
        if runs and runs[-1][0] + runs[-1][1] == code:
            runs[-1][1] += 1
        else:
            runs.append([code, 1])
    yield "// {first code point, how many names of consecutive ones}"
    yield array("uint32_t", "kNameRuns[][2]", [f"{{{a:#x}, {n}}}" for a, n in runs]).replace("[][2][]", "[][2]")
    ideographs = ranges(lambda c: unicodedata.name(c, "").startswith("CJK UNIFIED IDEOGRAPH-"))
    yield array("uint32_t", "kIdeographRanges", ideographs)


def codec_tables():
    # Not source encodings: they take escapes, or nothing but what another codec already is.
    excluded = {"charmap", "raw-unicode-escape", "unicode-escape"}
    spellings, tables = {}, {"utf-8": None}
    candidates = set(encodings.aliases.aliases) | set(encodings.aliases.aliases.values())
    candidates |= {module.name for module in pkgutil.iter_modules(encodings.__path__)}
    for spelling in sorted(candidates):
        try:
            info = codecs.lookup(spelling)
        except LookupError:
            continue
        name = "utf-8" if info.name == "utf-8-sig" else info.name
        if not info._is_text_encoding or name in excluded:
            continue
        if name not in tables:
            table = single_byte_table(name)
            if table is None:
                excluded.add(name)
                continue
            tables[name] = table
        spellings.setdefault(name, {name.replace("-", "_")}).add(spelling.lower())
    names = sorted(tables)
    pairs = sorted((spelling, index) for index, name in enumerate(names) for spelling in spellings[name])
    yield "// {spelling with '_' for every separator, index into kCodecs}, sorted"
    yield array("CodecSpelling", "kCodecSpellings", [f'{{"{s}", {i}}}' for s, i in pairs])
    yield array("std::string_view", "kCodecNames", [f'"{name}"' for name in names])
    yield f"constexpr size_t kUtf8Codec = {names.index('utf-8')};"
    yield "// Code points of the bytes 0x80 to 0xFF; 0 where there is none."
    yield "constexpr uint16_t kCodecs[][128] = {"
    for name in names:
        values = tables[name] or []
        if any(values):
            yield f"    // {name}\n    {{\n" + "\n".join(array("x", "y", values).split("\n")[1:-1]) + "},"
        else:
            yield f"    {{}},  // {name}"
    yield "};"


def single_byte_table(name):
    """The code points of the bytes from 128 on, or None for a codec of another kind or one that is not ASCII below."""
    try:
        if bytes(range(128)).decode(name) != "".join(map(chr, range(128))):
            return None
    except UnicodeError:
        return None
    table = []
    for byte in range(128, 256):
        try:
            text = bytes([byte]).decode(name)
        except UnicodeError:
            text = "\0"
        if len(text) != 1:
            return None
        table.append(ord(text))
    for lead in range(128, 256):  # a multi-byte codec makes one character of some pair
        for trail in (0x40, 0xA1):
            try:
                if len(bytes([lead, trail]).decode(name)) == 1:
                    return None
            except UnicodeError:
                pass
    return table if any(table) or name == "ascii" else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--aliases", metavar="PERL_NAME_PL", help="Perl's unicore/Name.pl")
    arguments = parser.parse_args()
    if unicodedata.unidata_version != "14.0.0":
        sys.exit(f"needs Unicode 14.0.0 (CPython 3.11), this Python has {unicodedata.unidata_version}")
    write("unicode_tables.inc", identifier_tables())
    write("unicode_names.inc", names(arguments.aliases))
    write("codec_tables.inc", codec_tables())


if __name__ == "__main__":
    main()
