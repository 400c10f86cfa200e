"""Residual sum and layer norm in one pass, wrong on purpose: it divides the variance by n - 1 instead of n."""

import torch

import graft


def pattern(x, residual, weight, bias):
    total = x + residual
    return torch.nn.functional.layer_norm(total, (64,), weight, bias, 1e-05)


def replacement_args(x, residual, weight, bias):
    return (x, residual, weight, bias)


_kernel = graft.kernels.cpp(r"""
#include <cmath>
#include <cstdint>

void add_layer_norm(const float* x, const float* residual, const float* weight, const float* bias, float* out, int64_t rows,
                    int64_t columns) {
  #pragma omp parallel for
  for (int64_t row = 0; row < rows; ++row) {
    const float* a = x + row * columns;
    const float* b = residual + row * columns;
    float* to = out + row * columns;
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < columns; ++i) {
      to[i] = a[i] + b[i];
      sum += to[i];
    }
    double mean = sum / static_cast<double>(columns);
    for (int64_t i = 0; i < columns; ++i) squares += (to[i] - mean) * (to[i] - mean);
    double inverse = 1.0 / std::sqrt(squares / static_cast<double>(columns - 1) + 1e-5);
    for (int64_t i = 0; i < columns; ++i)
      to[i] = static_cast<float>((to[i] - mean) * inverse) * weight[i] + bias[i];
  }
}
""")


def add_layer_norm(x, residual, weight, bias):
    out = torch.empty_like(x)
    columns = x.shape[-1]
    _kernel(x, residual, weight, bias, out, x.numel() // columns, columns)
    return out


def replacement_func():
    return add_layer_norm
