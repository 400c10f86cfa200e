"""Root-mean-square norm of the last dimension in one pass over memory."""

import torch

import graft


def pattern(x, weight):
    square = x.pow(2)
    mean = square.mean(-1, keepdim=True)
    shifted = mean + 1e-06
    inverse = torch.rsqrt(shifted)
    normal = x * inverse
    return weight * normal


def replacement_args(x, weight):
    return (x, weight)


_kernel = graft.kernels.cpp(r"""
#include <cmath>
#include <cstdint>

void rms_norm(const float* x, const float* weight, float* out, int64_t rows, int64_t columns) {
  #pragma omp parallel for
  for (int64_t row = 0; row < rows; ++row) {
    const float* in = x + row * columns;
    float* to = out + row * columns;
    // Eight partial sums: the order of additions is fixed, so the compiler may use one vector register.
    float partial[8] = {};
    int64_t i = 0;
    for (; i + 8 <= columns; i += 8)
      for (int k = 0; k < 8; ++k) partial[k] += in[i + k] * in[i + k];
    float sum = 0;
    for (; i < columns; ++i) sum += in[i] * in[i];
    for (float value : partial) sum += value;
    float inverse = 1.0f / std::sqrt(sum / static_cast<float>(columns) + 1e-6f);
    for (int64_t j = 0; j < columns; ++j) to[j] = weight[j] * (in[j] * inverse);
  }
}
""")


def rms_norm(x, weight):
    out = torch.empty_like(x)
    columns = x.shape[-1]
    _kernel(x, weight, out, x.numel() // columns, columns)
    return out


def replacement_func():
    return rms_norm
