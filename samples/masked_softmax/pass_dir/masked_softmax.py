"""Scale, additive mask and softmax of attention scores in one pass over memory."""

import torch

import graft


def pattern(scores, mask):
    scaled = scores * 0.125
    masked = scaled + mask
    return torch.nn.functional.softmax(masked, dim=-1)


def replacement_args(scores, mask):
    return (scores, mask)


_kernel = graft.kernels.cpp(r"""
#include <cmath>
#include <cstdint>
#include <cstring>

// e^x for x <= 0 to about 2 units in the last place: x = n*ln 2 + r, a polynomial for e^r, n into the exponent bits.
// Written without branches so that the loop around it becomes vector code.
static inline float exp_nonpositive(float x) {
  x = x < -87.0f ? -87.0f : x;
  float n = std::nearbyint(x * 1.44269504f);
  float r = x - n * 0.693359375f;
  r = r + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  int32_t bits = (static_cast<int32_t>(n) + 127) << 23;
  float power;
  std::memcpy(&power, &bits, sizeof power);
  return p * power;
}

// scores [batch, heads, rows, columns], mask [batch, 1, rows, columns], both contiguous.
void masked_softmax(const float* scores, const float* mask, float* out, int64_t batch, int64_t heads, int64_t rows,
                    int64_t columns) {
  #pragma omp parallel for
  for (int64_t line = 0; line < batch * heads * rows; ++line) {
    int64_t b = line / (heads * rows), row = line % rows;
    const float* in = scores + line * columns;
    const float* add = mask + (b * rows + row) * columns;
    float* to = out + line * columns;
    constexpr int kLanes = 8;
    float top[kLanes];
    for (float& value : top) value = -INFINITY;
    int64_t whole = columns / kLanes * kLanes;
    for (int64_t i = 0; i < whole; i += kLanes)
      for (int k = 0; k < kLanes; ++k) {
        float value = in[i + k] * 0.125f + add[i + k];
        to[i + k] = value;
        top[k] = value > top[k] ? value : top[k];
      }
    float highest = -INFINITY;
    for (int64_t i = whole; i < columns; ++i) {
      to[i] = in[i] * 0.125f + add[i];
      highest = to[i] > highest ? to[i] : highest;
    }
    for (float value : top) highest = value > highest ? value : highest;
    float partial[kLanes] = {};
    for (int64_t i = 0; i < whole; i += kLanes)
      for (int k = 0; k < kLanes; ++k) {
        float value = exp_nonpositive(to[i + k] - highest);
        to[i + k] = value;
        partial[k] += value;
      }
    float sum = 0;
    for (int64_t i = whole; i < columns; ++i) {
      to[i] = exp_nonpositive(to[i] - highest);
      sum += to[i];
    }
    for (float value : partial) sum += value;
    float inverse = 1.0f / sum;
    for (int64_t i = 0; i < columns; ++i) to[i] *= inverse;
  }
}
""")


def masked_softmax(scores, mask):
    out = torch.empty_like(scores)
    batch, heads, rows, columns = scores.shape
    _kernel(scores, mask, out, batch, heads, rows, columns)
    return out


def replacement_func():
    return masked_softmax
