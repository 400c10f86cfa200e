"""Root-mean-square norm of the last dimension, one Triton program a row."""

import torch
import triton
import triton.language as tl


def pattern(x, weight):
    square = x.pow(2)
    mean = square.mean(-1, keepdim=True)
    shifted = mean + 1e-06
    inverse = torch.rsqrt(shifted)
    normal = x * inverse
    return weight * normal


def replacement_args(x, weight):
    return (x, weight)


@triton.jit
def rms_norm_kernel(x_ptr, weight_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row * columns + offsets, mask=mask, other=0.0)
    weight = tl.load(weight_ptr + offsets, mask=mask, other=0.0)
    mean = tl.sum(x * x, axis=0) / columns
    inverse = 1.0 / tl.sqrt(mean + 1e-6)
    tl.store(out_ptr + row * columns + offsets, weight * (x * inverse), mask=mask)


def rms_norm(x, weight):
    out = torch.empty_like(x)
    columns = x.shape[-1]
    rows = x.numel() // columns
    rms_norm_kernel[(rows,)](x, weight, out, columns, BLOCK=triton.next_power_of_2(columns), num_warps=4)
    return out


def replacement_func():
    return rms_norm
