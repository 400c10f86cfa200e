"""Layer norm over 48 channels, one pass a row."""

import torch

import graft


def pattern(x, weight, bias):
    return torch.nn.functional.layer_norm(x, (48,), weight=weight, bias=bias, eps=1e-06)


def replacement_args(x, weight, bias):
    return (x, weight, bias)


_kernel = graft.kernels.cpp(r"""
#include <cmath>
#include <cstdint>

void layer_norm(const float* x, const float* weight, const float* bias, float* out, int64_t rows) {
  constexpr int kColumns = 48;
  #pragma omp parallel for
  for (int64_t row = 0; row < rows; ++row) {
    const float* in = x + row * kColumns;
    float sum = 0, squares = 0;
    for (int i = 0; i < kColumns; ++i) sum += in[i];
    float mean = sum / kColumns;
    for (int i = 0; i < kColumns; ++i) squares += (in[i] - mean) * (in[i] - mean);
    float inverse = 1.0f / std::sqrt(squares / kColumns + 1e-6f);
    for (int i = 0; i < kColumns; ++i) out[row * kColumns + i] = (in[i] - mean) * inverse * weight[i] + bias[i];
  }
}
""")


def layer_norm(x, weight, bias):
    out = torch.empty_like(x)
    _kernel(x, weight, bias, out, x.numel() // 48)
    return out


def replacement_func():
    return layer_norm
