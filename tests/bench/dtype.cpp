#include "bench/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace graft::bench {
namespace {

TEST(DType, NamesAndSizes) {
  for (int i = 0; i < kDTypeCount; ++i) {
    auto dtype = static_cast<DType>(i);
    EXPECT_EQ(dtype_from_name(dtype_name(dtype)), dtype);
    EXPECT_GT(item_size(dtype), 0U);
    int kinds = is_floating(dtype) + is_complex(dtype) + is_integer(dtype) + (dtype == DType::kBool);
    EXPECT_EQ(kinds, 1) << dtype_name(dtype);
  }
  EXPECT_EQ(dtype_from_name("torch.float32"), DType::kFloat32);
  EXPECT_EQ(dtype_from_name("torch.half"), DType::kFloat16);
  EXPECT_EQ(dtype_from_name("long"), DType::kInt64);
  EXPECT_EQ(dtype_from_name("torch.float33"), std::nullopt);
  EXPECT_EQ(dtype_from_name(""), std::nullopt);
  EXPECT_EQ(item_size(DType::kComplex128), 16U);
}

TEST(DType, Float16RoundTripsAndRoundsToEven) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float value = float_from_float16(static_cast<uint16_t>(bits));
    if (std::isnan(value)) continue;
    EXPECT_EQ(float16_from_float(value), bits);
  }
  EXPECT_EQ(float16_from_float(2049.0f), float16_from_float(2048.0f));  // tie: to even
  EXPECT_EQ(float16_from_float(2051.0f), float16_from_float(2052.0f));
  EXPECT_EQ(float16_from_float(65519.0f), 0x7bff);
  EXPECT_EQ(float16_from_float(65520.0f), 0x7c00);
  EXPECT_EQ(float16_from_float(-1e10f), 0xfc00);
  EXPECT_EQ(float16_from_float(std::ldexp(1.0f, -25)), 0);  // half of the smallest: to even
  EXPECT_EQ(float16_from_float(std::ldexp(1.5f, -25)), 1);
  EXPECT_TRUE(std::isnan(float_from_float16(float16_from_float(std::nanf("")))));
}

TEST(DType, BFloat16RoundTripsAndRoundsToEven) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float value = float_from_bfloat16(static_cast<uint16_t>(bits));
    if (std::isnan(value)) continue;
    EXPECT_EQ(bfloat16_from_float(value), bits);
  }
  EXPECT_EQ(bfloat16_from_float(257.0f), bfloat16_from_float(256.0f));
  EXPECT_EQ(bfloat16_from_float(259.0f), bfloat16_from_float(260.0f));
  EXPECT_EQ(bfloat16_from_float(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_TRUE(std::isnan(float_from_bfloat16(bfloat16_from_float(std::nanf("")))));
}

TEST(DType, Float8RoundTrips) {
  for (DType dtype : {DType::kFloat8E4M3FN, DType::kFloat8E4M3FNUZ, DType::kFloat8E5M2,
                      DType::kFloat8E5M2FNUZ, DType::kFloat8E8M0FNU}) {
    for (int bits = 0; bits < 256; ++bits) {
      float value = float_from_float8(dtype, static_cast<uint8_t>(bits));
      if (std::isnan(value)) continue;
      EXPECT_EQ(float8_from_float(dtype, value), bits) << dtype_name(dtype);
    }
  }
  EXPECT_EQ(float_from_float8(DType::kFloat8E4M3FN, 0x7e), 448.0f);
  EXPECT_TRUE(
      std::isnan(float_from_float8(DType::kFloat8E4M3FN, float8_from_float(DType::kFloat8E4M3FN, 500.0f))));
  EXPECT_TRUE(std::isinf(float_from_float8(DType::kFloat8E5M2, float8_from_float(DType::kFloat8E5M2, 1e6f))));
}

template <class T>
T stored(DType dtype, double value) {
  T out;
  store_double(dtype, value, &out);
  return out;
}

TEST(DType, IntegersTruncateAsTorchDoes) {
  EXPECT_EQ(stored<int64_t>(DType::kInt64, -2.9), -2);
  EXPECT_EQ(stored<int64_t>(DType::kInt64, 1e19), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(stored<int32_t>(DType::kInt32, 3e9), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(stored<int32_t>(DType::kInt32, std::nan("")), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(stored<int8_t>(DType::kInt8, 300.2), 44);
  EXPECT_EQ(stored<int16_t>(DType::kInt16, -70000.7), -4464);
  EXPECT_EQ(stored<uint8_t>(DType::kUInt8, -300.2), 212);
  EXPECT_EQ(stored<uint16_t>(DType::kUInt16, 65519.9), 65519);
  EXPECT_EQ(stored<uint64_t>(DType::kUInt64, 1e19), 10000000000000000000U);
  EXPECT_EQ(stored<uint8_t>(DType::kBool, 0.1), 1);
  // float16 by way of float32: rounded twice.
  EXPECT_EQ(stored<uint16_t>(DType::kFloat16, 1.0 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40)), 0x3c00);
}

}  // namespace
}  // namespace graft::bench
