"""Batch norm in inference, leaky ReLU and sum with a skip connection in one pass over memory."""

import torch

import graft


def pattern(x, mean, variance, weight, bias, other):
    normal = torch.nn.functional.batch_norm(
        x, mean, variance, weight=weight, bias=bias, training=False, momentum=0.1, eps=1e-05
    )
    active = torch.nn.functional.leaky_relu(normal, negative_slope=0.01, inplace=True)
    return active + other


def replacement_args(x, mean, variance, weight, bias, other):
    return (x, mean, variance, weight, bias, other)


_kernel = graft.kernels.cpp(r"""
#include <cmath>
#include <cstdint>

// x, other and out: [batch, channels, plane], contiguous; the rest: [channels].
void batch_norm_leaky_relu_add(const float* x, const float* mean, const float* variance, const float* weight, const float* bias,
        const float* other, float* out, int64_t batch, int64_t channels, int64_t plane) {
  #pragma omp parallel for
  for (int64_t line = 0; line < batch * channels; ++line) {
    int64_t c = line % channels;
    float scale = weight[c] / std::sqrt(variance[c] + 1e-5f);
    float shift = bias[c] - mean[c] * scale;
    const float* in = x + line * plane;
    const float* add = other + line * plane;
    float* to = out + line * plane;
    for (int64_t i = 0; i < plane; ++i) {
      float value = in[i] * scale + shift;
      to[i] = (value > 0 ? value : 0.01f * value) + add[i];
    }
  }
}
""")


def batch_norm_leaky_relu_add(x, mean, variance, weight, bias, other):
    out = torch.empty_like(x)
    batch, channels, height, width = x.shape
    _kernel(x, mean, variance, weight, bias, other, out, batch, channels, height * width)
    return out


def replacement_func():
    return batch_norm_leaky_relu_add
