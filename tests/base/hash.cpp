#include "base/hash.h"

#include <gtest/gtest.h>

namespace graft {
namespace {

// FIPS 180-2, appendix B.1.
constexpr char kAbc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(Hash, KnownDigest) {
  EXPECT_EQ(sha256_hex("abc"), kAbc);
}

TEST(Hash, PiecesGiveTheSameAndTheObjectStartsAnew) {
  Sha256 hash;
  hash.update("a");
  hash.update("");
  hash.update("bc");
  EXPECT_EQ(hash.hex(), kAbc);
  hash.update("abc");
  EXPECT_EQ(hash.hex(), kAbc);
  EXPECT_EQ(hash.hex(), sha256_hex(""));
}

}  // namespace
}  // namespace graft
