"""The tanh form of GELU, written out as eight operations, in one pass over memory."""

import torch

import graft


def pattern(x):
    half = 0.5 * x
    cube = torch.pow(x, 3.0)
    scaled = 0.044715 * cube
    inner = x + scaled
    argument = 0.7978845608028654 * inner
    tangent = torch.tanh(argument)
    shifted = 1.0 + tangent
    return half * shifted


def replacement_args(x):
    return (x,)


_kernel = graft.kernels.cpp(r"""
#include <cmath>
#include <cstdint>

void gelu_tanh(const float* x, float* out, int64_t count) {
  #pragma omp parallel for
  for (int64_t i = 0; i < count; ++i) {
    float v = x[i];
    out[i] = 0.5f * v * (1.0f + std::tanh(0.7978845608028654f * (v + 0.044715f * v * v * v)));
  }
}
""")


def gelu_tanh(x):
    out = torch.empty_like(x)
    _kernel(x, out, x.numel())
    return out


def replacement_func():
    return gelu_tanh
