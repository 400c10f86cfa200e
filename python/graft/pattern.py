"""Hints for patterns of pass files.

    from graft.pattern import commutative

    def pattern(x, bias):
        return torch.relu(commutative(x + bias))

A hint changes nothing when it runs: it returns what it is given, so a file with hints is still a pass for every evaluator of
pass files that can import this module. `graft` reads hints from the text and uses them in normalized matching.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

__all__ = ["commutative"]

T = TypeVar("T")

# Told of every hint while a pattern is traced by graft.trace_pattern: (name of the hint, value).
_observer: Callable[[str, object], None] | None = None


def commutative(value: T) -> T:
    """Says that the operator which makes `value` may have its two operands in either order.

    `value` is a sum, product, maximum, minimum, ==, !=, or a logical or bitwise and, or, xor of two operands, in its operator,
    torch or method spelling. With any other operator, or with `alpha=`, the pattern is refused.
    """
    if _observer is not None:
        _observer("commutative", value)
    return value
