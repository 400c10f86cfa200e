// Random numbers that others drew before us, bit for bit: numpy's legacy global generator and Python's
// random.Random.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace graft::bench {

// The Mersenne twister MT19937 (Matsumoto and Nishimura, 1998), the generator under both.
class MersenneTwister {
 public:
  static constexpr int kStateSize = 624;

  // init_genrand(seed): how numpy.random.seed(int) starts.
  static MersenneTwister from_seed(uint32_t seed);
  // init_by_array(key): how random.Random(int) starts, the key being the absolute value in 32-bit words, low
  // word first.
  static MersenneTwister from_key(std::span<const uint32_t> key);

  uint32_t next() {
    if (index_ == kStateSize) refill();
    return output_[static_cast<size_t>(index_++)];
  }
  // The next out.size() numbers.
  void fill(std::span<uint32_t> out);
  // A double in [0, 1) with 53 random bits, of two numbers.
  double next_double() {
    uint32_t high = next() >> 5;
    uint32_t low = next() >> 6;
    return (high * 67108864.0 + low) * (1.0 / 9007199254740992.0);
  }

 private:
  MersenneTwister() = default;
  void refill();

  std::array<uint32_t, kStateSize> state_{};
  std::array<uint32_t, kStateSize> output_{};  // the tempered state
  int index_ = kStateSize;
};

// numpy.random.RandomState(seed) with its legacy distributions.
class NumpyRandom {
 public:
  explicit NumpyRandom(uint32_t seed) : twister_(MersenneTwister::from_seed(seed)) {}

  double rand() { return twister_.next_double(); }
  // Standard normal by the polar method. Every second value is the partner of the one before, kept across
  // calls.
  double randn();
  void fill_rand(std::span<double> out);
  void fill_randn(std::span<double> out);  // the same values as out.size() calls of randn(), faster
  // Integers in [low, high] (`high` included), by masked rejection. low <= high.
  int64_t randint(int64_t low, int64_t high);

 private:
  MersenneTwister twister_;
  std::optional<double> partner_;
};

// random.Random(seed) for a non-negative seed.
class PythonRandom {
 public:
  explicit PythonRandom(uint32_t seed);
  // random.sample(range(population), count), count <= population.
  std::vector<size_t> sample(size_t population, size_t count);

 private:
  size_t below(size_t bound);
  MersenneTwister twister_;
};

}  // namespace graft::bench
