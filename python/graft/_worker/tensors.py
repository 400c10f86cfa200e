"""Tensors over memory shared with the host, and what is said about outputs.

A layout is a list of {"name", "dtype", "shape", "offset"}: dense row-major tensors in one buffer.
"""

from __future__ import annotations

import math
import mmap
import os
import warnings

import torch


class Buffer:
    """A mapping of a descriptor, which is closed. Read-only mappings serve inputs, which the kernel may have sealed."""

    def __init__(self, descriptor: int, size: int, writable: bool):
        protection = mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0)
        self._map = mmap.mmap(descriptor, size, flags=mmap.MAP_SHARED, prot=protection)
        os.close(descriptor)

    def tensor(self, entry: dict) -> torch.Tensor:
        dtype = getattr(torch, entry["dtype"])
        shape = entry["shape"]
        count = math.prod(shape)
        if count == 0:
            return torch.empty(shape, dtype=dtype)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns about memory it must not write; nobody writes it
            return torch.frombuffer(self._map, dtype=dtype, count=count, offset=entry["offset"]).reshape(shape)


def flatten(value) -> list:
    """The leaves of an output: tuples and lists are opened at every depth."""
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in flatten(item)]
    return [value]


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).rsplit(".", 1)[-1]


def describe(value) -> dict:
    """What the host needs to know of one output before it makes room for it."""
    if isinstance(value, torch.Tensor):
        description = {"dtype": dtype_name(value.dtype), "shape": list(value.shape), "device": value.device.type}
        if value.layout == torch.strided:
            description["stride"] = list(value.stride())
        return description
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return {"dtype": type(value).__name__, "value": repr(value)[:1000]}
    return {"dtype": type(value).__name__}


def same_storage(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()
