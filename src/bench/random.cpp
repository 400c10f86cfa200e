#include "bench/random.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <set>

#include "bench/wide.h"

// The values must not depend on the processor.
GRAFT_EXACT_LOOPS

namespace graft::bench {
namespace {

constexpr size_t kState = MersenneTwister::kStateSize;
constexpr size_t kShift = 397;

inline uint32_t twist(uint32_t high, uint32_t low, uint32_t far) {
  uint32_t y = (high & 0x80000000U) | (low & 0x7fffffffU);
  return far ^ (y >> 1) ^ ((0U - (low & 1U)) & 0x9908b0dfU);
}

GRAFT_WIDE void next_state(uint32_t* state, uint32_t* output) {
  for (size_t i = 0; i < kState - kShift; ++i) state[i] = twist(state[i], state[i + 1], state[i + kShift]);
  // Two loops of at most kState - kShift steps read only what the loop before has written.
  for (size_t i = kState - kShift; i < 2 * (kState - kShift); ++i)
    state[i] = twist(state[i], state[i + 1], state[i - (kState - kShift)]);
  for (size_t i = 2 * (kState - kShift); i < kState - 1; ++i)
    state[i] = twist(state[i], state[i + 1], state[i - (kState - kShift)]);
  state[kState - 1] = twist(state[kState - 1], state[0], state[kShift - 1]);
  for (size_t i = 0; i < kState; ++i) {
    uint32_t y = state[i];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680U;
    y ^= (y << 15) & 0xefc60000U;
    y ^= y >> 18;
    output[i] = y;
  }
}

// Doubles in [0, 1) from pairs of numbers.
GRAFT_WIDE void to_doubles(const uint32_t* numbers, double* out, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    auto high = static_cast<int32_t>(numbers[2 * i] >> 5);
    auto low = static_cast<int32_t>(numbers[2 * i + 1] >> 6);
    out[i] = (high * 67108864.0 + low) * (1.0 / 9007199254740992.0);
  }
}

// One batch of trials of the polar method.
constexpr size_t kTrials = 256;

// Points in the square from doubles in [0, 1), and their squared distance from the centre.
GRAFT_WIDE void to_points(const double* uniform, double* x1, double* x2, double* square, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    x1[i] = 2.0 * uniform[2 * i] - 1.0;
    x2[i] = 2.0 * uniform[2 * i + 1] - 1.0;
    square[i] = x1[i] * x1[i] + x2[i] * x2[i];
  }
}

GRAFT_WIDE void to_normals(const double* x1, const double* x2, const double* square, const double* logarithm,
                           double* out, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    double factor = std::sqrt(-2.0 * logarithm[i] / square[i]);
    out[2 * i] = factor * x2[i];
    out[2 * i + 1] = factor * x1[i];
  }
}

}  // namespace

MersenneTwister MersenneTwister::from_seed(uint32_t seed) {
  MersenneTwister twister;
  auto& state = twister.state_;
  state[0] = seed;
  for (uint32_t i = 1; i < kState; ++i) state[i] = 1812433253U * (state[i - 1] ^ (state[i - 1] >> 30)) + i;
  return twister;
}

MersenneTwister MersenneTwister::from_key(std::span<const uint32_t> key) {
  MersenneTwister twister = from_seed(19650218U);
  auto& state = twister.state_;
  size_t i = 1;
  size_t j = 0;
  auto step = [&] {
    if (++i == kState) {
      state[0] = state[kState - 1];
      i = 1;
    }
  };
  for (size_t k = std::max(kState, key.size()); k > 0; --k) {
    state[i] =
        (state[i] ^ ((state[i - 1] ^ (state[i - 1] >> 30)) * 1664525U)) + key[j] + static_cast<uint32_t>(j);
    step();
    if (++j == key.size()) j = 0;
  }
  for (size_t k = kState - 1; k > 0; --k) {
    state[i] = (state[i] ^ ((state[i - 1] ^ (state[i - 1] >> 30)) * 1566083941U)) - static_cast<uint32_t>(i);
    step();
  }
  state[0] = 0x80000000U;
  return twister;
}

void MersenneTwister::refill() {
  next_state(state_.data(), output_.data());
  index_ = 0;
}

void MersenneTwister::fill(std::span<uint32_t> out) {
  while (!out.empty()) {
    if (index_ == kStateSize) refill();
    size_t count = std::min(out.size(), static_cast<size_t>(kStateSize - index_));
    std::copy_n(output_.begin() + index_, count, out.begin());
    index_ += static_cast<int>(count);
    out = out.subspan(count);
  }
}

double NumpyRandom::randn() {
  if (partner_) {
    double value = *partner_;
    partner_.reset();
    return value;
  }
  double x1 = 0;
  double x2 = 0;
  double square = 0;
  do {
    x1 = 2.0 * twister_.next_double() - 1.0;
    x2 = 2.0 * twister_.next_double() - 1.0;
    square = x1 * x1 + x2 * x2;
  } while (square >= 1.0 || square == 0.0);
  double factor = std::sqrt(-2.0 * std::log(square) / square);
  partner_ = factor * x1;
  return factor * x2;
}

void NumpyRandom::fill_rand(std::span<double> out) {
  uint32_t numbers[2 * kTrials];
  while (!out.empty()) {
    size_t count = std::min(out.size(), kTrials);
    twister_.fill({numbers, 2 * count});
    to_doubles(numbers, out.data(), count);
    out = out.subspan(count);
  }
}

void NumpyRandom::fill_randn(std::span<double> out) {
  if (!out.empty() && partner_) {
    out[0] = *partner_;
    partner_.reset();
    out = out.subspan(1);
  }
  uint32_t numbers[4 * kTrials];
  double uniform[2 * kTrials];
  double x1[kTrials];
  double x2[kTrials];
  double square[kTrials];
  double logarithm[kTrials];
  // A trial gives at most one pair, so as many trials as pairs are missing never draw too much.
  while (out.size() >= 2) {
    size_t trials = std::min(out.size() / 2, kTrials);
    twister_.fill({numbers, 4 * trials});
    to_doubles(numbers, uniform, 2 * trials);
    to_points(uniform, x1, x2, square, trials);
    size_t kept = 0;
    for (size_t i = 0; i < trials; ++i) {
      double r = square[i];
      x1[kept] = x1[i];
      x2[kept] = x2[i];
      square[kept] = r;
      kept += static_cast<size_t>((r < 1.0) & (r != 0.0));
    }
    for (size_t i = 0; i < kept; ++i) logarithm[i] = std::log(square[i]);
    to_normals(x1, x2, square, logarithm, out.data(), kept);
    out = out.subspan(2 * kept);
  }
  if (!out.empty()) out[0] = randn();
}

int64_t NumpyRandom::randint(int64_t low, int64_t high) {
  assert(low <= high);
  uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  if (range == 0) return low;
  uint64_t mask = range;
  for (int shift = 1; shift < 64; shift *= 2) mask |= mask >> shift;
  uint64_t value = 0;
  if (range == 0xffffffffU) {
    value = twister_.next();
  } else if (range < 0xffffffffU) {
    do value = twister_.next() & mask;
    while (value > range);
  } else {
    do {
      uint64_t upper = twister_.next();
      value = ((upper << 32) | twister_.next()) & mask;
    } while (value > range);
  }
  return static_cast<int64_t>(static_cast<uint64_t>(low) + value);
}

PythonRandom::PythonRandom(uint32_t seed) : twister_(MersenneTwister::from_key(std::span(&seed, 1))) {}

// Random._randbelow_with_getrandbits.
size_t PythonRandom::below(size_t bound) {
  int bits = 0;
  while (bits < 64 && (bound >> bits) != 0) ++bits;
  auto draw = [&]() -> size_t {
    if (bits <= 32) return twister_.next() >> (32 - bits);
    size_t low = twister_.next();
    return low | (static_cast<size_t>(twister_.next() >> (64 - bits)) << 32);
  };
  size_t value = draw();
  while (value >= bound) value = draw();
  return value;
}

std::vector<size_t> PythonRandom::sample(size_t population, size_t count) {
  assert(count <= population);
  std::vector<size_t> chosen;
  // Python keeps a pool while that is smaller than a set of the chosen, by this estimate of both.
  size_t set_size = 21;
  if (count > 5)
    set_size += static_cast<size_t>(
        std::pow(4.0, std::ceil(std::log(static_cast<double>(count) * 3.0) / std::log(4.0))));
  if (population <= set_size) {
    std::vector<size_t> pool(population);
    std::iota(pool.begin(), pool.end(), size_t{0});
    for (size_t i = 0; i < count; ++i) {
      size_t j = below(population - i);
      chosen.push_back(pool[j]);
      pool[j] = pool[population - i - 1];
    }
    return chosen;
  }
  std::set<size_t> seen;
  for (size_t i = 0; i < count; ++i) {
    size_t j = below(population);
    while (!seen.insert(j).second) j = below(population);
    chosen.push_back(j);
  }
  return chosen;
}

}  // namespace graft::bench
