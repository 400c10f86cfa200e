"""Random programs through both parsers: fuzz_differential.py for a bounded time."""

import os

import pytest

import differential
import fuzz_differential
import oracle

PROGRAM = differential.default_program()

pytestmark = pytest.mark.skipif(not os.path.exists(PROGRAM), reason="skipped: the program graft is not built")


def agree(**options):
    tried, accepted, found = oracle.with_deep_stack(lambda: fuzz_differential.run(PROGRAM, **options))
    print("%d programs, %d accepted by both" % (tried, accepted))
    assert not found, "\n\n".join("%r\ngraft: %s\nCPython: %s" % (d["text"], d["graft"], d["cpython"]) for d in found)
    return tried, accepted


def test_some_programs():
    tried, accepted = agree(seed=1, rounds=2)
    # Mutations must leave enough programs whole for the comparison of trees to mean something.
    assert accepted > tried / 10


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_many_programs():
    agree(seed=2, seconds=300)
