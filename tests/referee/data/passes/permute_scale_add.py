"""Channels-last activations scaled by channel, permuted to channels-first and added to a skip connection."""

import torch

import graft


def pattern(x, scale, skip):
    planes = torch.permute(x, [0, 3, 1, 2])
    scaled = scale * planes
    return scaled + skip


def replacement_args(x, scale, skip):
    return (x, scale, skip)


_kernel = graft.kernels.cpp(r"""
#include <cstdint>

// x: [batch, plane, channels]; skip and out: [batch, channels, plane]; scale: [channels]; all contiguous.
void permute_scale_add(const float* x, const float* scale, const float* skip, float* out, int64_t batch, int64_t channels,
                       int64_t plane) {
  #pragma omp parallel for collapse(2)
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t p = 0; p < plane; ++p)
        out[(b * channels + c) * plane + p] = scale[c] * x[(b * plane + p) * channels + c] + skip[(b * channels + c) * plane + p];
}
""")


def permute_scale_add(x, scale, skip):
    out = torch.empty_like(skip)
    batch, height, width, channels = x.shape
    _kernel(x, scale, skip, out, batch, channels, height * width)
    return out


def replacement_func():
    return permute_scale_add
