"""Residual sum and layer norm, one Triton program a row, wrong on purpose: it divides the variance by n - 1 instead of n."""

import torch
import triton
import triton.language as tl


def pattern(x, residual, weight, bias):
    total = x + residual
    return torch.nn.functional.layer_norm(total, (64,), weight, bias, 1e-05)


def replacement_args(x, residual, weight, bias):
    return (x, residual, weight, bias)


@triton.jit
def add_layer_norm_kernel(x_ptr, residual_ptr, weight_ptr, bias_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    inside = offsets < columns
    x = tl.load(x_ptr + row * columns + offsets, mask=inside, other=0.0)
    residual = tl.load(residual_ptr + row * columns + offsets, mask=inside, other=0.0)
    weight = tl.load(weight_ptr + offsets, mask=inside, other=0.0)
    bias = tl.load(bias_ptr + offsets, mask=inside, other=0.0)
    total = x + residual
    mean = tl.sum(total, axis=0) / columns
    centred = tl.where(inside, total - mean, 0.0)
    variance = tl.sum(centred * centred, axis=0) / (columns - 1)
    out = centred / tl.sqrt(variance + 1e-5) * weight + bias
    tl.store(out_ptr + row * columns + offsets, out, mask=inside)


def add_layer_norm(x, residual, weight, bias):
    out = torch.empty_like(x)
    columns = x.shape[-1]
    rows = x.numel() // columns
    add_layer_norm_kernel[(rows,)](x, residual, weight, bias, out, columns, BLOCK=triton.next_power_of_2(columns), num_warps=1)
    return out


def replacement_func():
    return add_layer_norm
