"""Graft's parser against the running CPython: differential.py over a part of the standard library, or all of it."""

import os
import pathlib
import sysconfig

import pytest

import differential

PROGRAM = differential.default_program()
STDLIB = os.path.realpath(sysconfig.get_paths()["stdlib"])

pytestmark = pytest.mark.skipif(not os.path.exists(PROGRAM), reason="skipped: the program graft is not built")


def agree(paths, **options):
    differences, figures, total = differential.run(paths, PROGRAM, **options)
    print(figures)
    assert not differences, "\n".join(differences[:50])
    assert total == figures["hash"]
    return figures


def test_part_of_the_standard_library():
    paths = [os.path.join(STDLIB, name) for name in ("asyncio", "collections", "concurrent", "email", "json", "unittest")]
    figures = agree(paths)
    assert figures["files"] > 50 and figures["definitions"] > 1000


def test_sample_of_everything_installed():
    figures = agree(differential.default_paths(), with_definitions=False, limit=300)
    assert figures["files"] == 300


def test_files_cpython_refuses():
    folder = pathlib.Path(STDLIB) / "test"
    files = sorted(str(path) for path in folder.rglob("bad*.py"))
    if not files:
        pytest.skip("skipped: this Python has no test folder")
    figures = agree(files)
    assert figures["refused"] > 2


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_everything_installed():
    figures = agree(differential.default_paths(), jobs=os.cpu_count())
    assert figures["files"] > 1000
