"""Scale, additive mask and softmax of attention scores, one Triton program a row."""

import torch
import triton
import triton.language as tl


def pattern(scores, mask):
    scaled = scores * 0.125
    masked = scaled + mask
    return torch.nn.functional.softmax(masked, dim=-1)


def replacement_args(scores, mask):
    return (scores, mask)


@triton.jit
def masked_softmax_kernel(scores_ptr, mask_ptr, out_ptr, heads, rows, columns, BLOCK: tl.constexpr):
    line = tl.program_id(0)
    batch = line // (heads * rows)
    row = line % rows
    offsets = tl.arange(0, BLOCK)
    inside = offsets < columns
    scores = tl.load(scores_ptr + line * columns + offsets, mask=inside, other=-float("inf"))
    added = tl.load(mask_ptr + (batch * rows + row) * columns + offsets, mask=inside, other=0.0)
    masked = scores * 0.125 + added
    power = tl.exp(masked - tl.max(masked, axis=0))
    tl.store(out_ptr + line * columns + offsets, power / tl.sum(power, axis=0), mask=inside)


def masked_softmax(scores, mask):
    out = torch.empty_like(scores)
    batch, heads, rows, columns = scores.shape
    grid = (batch * heads * rows,)
    masked_softmax_kernel[grid](scores, mask, out, heads, rows, columns, BLOCK=triton.next_power_of_2(columns), num_warps=4)
    return out


def replacement_func():
    return masked_softmax
